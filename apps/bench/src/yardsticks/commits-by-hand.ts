import { createHash } from "node:crypto";
import { type Clock, type Connection, createLoopback, type Transport } from "@tidemark/protocol";
import { z } from "zod";
import { type CommitRows, RowsByHand } from "./rows-by-hand.js";

const CommitRequest = z.strictObject({
  type: z.literal("commit"),
  req: z.number().int().min(0),
  space: z.string().min(1).max(128),
  commit: z.strictObject({
    localSeq: z.number().int().min(1),
    reads: z.array(z.never()),
    ops: z
      .array(
        z.strictObject({
          id: z.string().min(1).max(256),
          op: z.literal("set"),
          value: z.record(z.string(), z.unknown()),
        }),
      )
      .length(1),
  }),
});

/**
 * Takes commits of one document over a loopback, by hand: zod for the shape, the rows in a transaction for all that
 * arrived in one turn, the verdict with the request's hash for a resend, an acknowledgement each.
 */
export class CommitsByHand {
  readonly transport: Transport;
  readonly #clock: Clock;
  readonly #rows: RowsByHand;
  readonly #batch: { readonly req: number; readonly rows: CommitRows }[] = [];
  #seq = 0;

  constructor(clock: Clock, file: string) {
    const loopback = createLoopback(clock);
    this.transport = loopback.transport;
    this.#clock = clock;
    this.#rows = new RowsByHand(file);
    loopback.onConnection((connection) => {
      connection.onMessage((text) => this.#receive(connection, text));
    });
  }

  close(): void {
    this.#rows.close();
  }

  #receive(connection: Connection, text: string): void {
    const parsed = CommitRequest.safeParse(JSON.parse(text));
    if (!parsed.success) {
      connection.send(JSON.stringify({ type: "error", message: parsed.error.message }));
      return;
    }
    const { req, commit } = parsed.data;
    const [operation] = commit.ops;
    if (operation === undefined) return;
    const hash = createHash("sha256").update(JSON.stringify(commit.ops)).digest("base64url");
    const data = JSON.stringify(operation.value);
    this.#batch.push({ req, rows: { seq: (this.#seq += 1), id: operation.id, data, hash } });
    if (this.#batch.length === 1) this.#clock.immediate(() => this.#flush(connection));
  }

  #flush(connection: Connection): void {
    const batch = this.#batch.splice(0);
    this.#rows.commitAll(batch.map(({ rows }) => rows));
    for (const { req, rows } of batch) {
      connection.send(JSON.stringify({ type: "ok", req, result: { seq: rows.seq } }));
    }
  }
}
