import { canonicalJson, type Grantee, type JsonValue, type Link } from "@tidemark/protocol";
import {
  cell,
  cellAt,
  type Cell,
  computed,
  currentPrincipal,
  eventKey,
  fetchData,
  handler,
  type HandlerContext,
  map,
  now,
  type Pattern,
  pattern,
  random,
  type Readable,
  sendOnChange,
  type Stream,
} from "@tidemark/runtime";
import { z } from "zod";
import { handlerNodeName } from "../scenario/handler-name.js";
import { NotSupportedYetError } from "../run/not-supported.js";
import type { Expression } from "../scenario/expression.js";
import type { PatternFile } from "../scenario/file.js";
import { evaluate, type EvaluationScope, type Resolved } from "./evaluate.js";
import { requireServed, runOperations } from "./operations.js";

/** Told of the body of every handler's run, by the key of its event (seed 003). */
export interface HandlerWatch {
  begins(key: string): void;
  ends(key: string, how: "ok" | "throws"): void;
}

/** The runtime that a pattern is built for: each has counters and posture of its own. */
export interface PatternHost {
  /** Spends virtual time; does nothing in a client's run. */
  busy(ms: number): void;
  /** Resolves at `{"let": name}`; `undefined` in a client's run, which does not wait. */
  waitFor(name: string): Promise<void> | undefined;
  resolve(address: string): Resolved;
  streamLink(address: string): Link;
  grantee(user: string): Grantee;
  pattern(name: string): Pattern;
  readonly watch?: HandlerWatch;
  /** A handler made a piece: from now on the file may name it. */
  pieceCreated(name: string, pattern: string, id: string): void;
}

type Path = readonly (string | number)[];

const anything = z.unknown();
const FINGERPRINT_VERSION = "1";

/** Refuses parts of a pattern that nothing serves yet. */
function requireServedParts(file: PatternFile): void {
  for (const part of ["labels", "ceilings", "consumers"] as const) {
    if (file[part] && Object.keys(file[part]).length > 0) throw new NotSupportedYetError(part);
  }
  for (const operations of Object.values(file.handlers ?? {})) requireServed(operations);
}

/** Makes a pattern of the public API from its description in a file. */
export function buildPattern(name: string, file: PatternFile, host: PatternHost): Pattern {
  requireServedParts(file);
  return pattern({
    id: name,
    version: FINGERPRINT_VERSION,
    argument: z.looseObject({}),
    fingerprint: canonicalJson(file as unknown as JsonValue),
    build: ({ argument }) => new PatternBody(file, host, argument as Readable<unknown>).declare(),
  });
}

/** The nodes of one piece, and the counters of their runs. */
class PatternBody {
  readonly #file: PatternFile;
  readonly #host: PatternHost;
  readonly #argument: Readable<unknown>;
  readonly #nodes = new Map<string, Readable<unknown>>();
  readonly #streams = new Map<string, Stream<unknown>>();
  readonly #runs = new Map<string, number>();

  constructor(file: PatternFile, host: PatternHost, argument: Readable<unknown>) {
    this.#file = file;
    this.#host = host;
    this.#argument = argument;
  }

  declare(): Record<string, Readable<unknown> | Stream<unknown>> {
    for (const [name, { default: initial, scope }] of Object.entries(this.#file.cells ?? {})) {
      const options = {
        ...(scope ? { scope } : {}),
        ...(initial === undefined ? {} : { default: initial }),
      };
      this.#nodes.set(name, cell(name, anything, options));
    }
    for (const [name, expression] of Object.entries(this.#file.computed ?? {})) {
      this.#nodes.set(
        name,
        computed(name, () => this.#derive(name, expression)),
      );
    }
    for (const [name, { fetch }] of Object.entries(this.#file.effects ?? {})) {
      this.#declareFetch(name, fetch.url);
    }
    for (const [name, list] of Object.entries(this.#file.maps ?? {})) this.#declareMap(name, list);
    for (const name of Object.keys(this.#file.handlers ?? {})) this.#declareHandler(name);
    for (const [name, send] of Object.entries(this.#file.sends ?? {}))
      this.#declareSend(name, send);
    const streams = [...this.#streams].map(
      ([name, stream]) => [handlerNodeName(this.#file, name), stream] as const,
    );
    return { ...Object.fromEntries(this.#nodes), ...Object.fromEntries(streams) };
  }

  #declareFetch(name: string, url: Expression): void {
    const node = fetchData(name, () => {
      const to = this.#derive(name, url);
      return to === null ? undefined : { url: to as string };
    });
    this.#nodes.set(name, node as Readable<unknown>);
  }

  #declareMap(name: string, list: { over: string; key: string; expr: Expression }): void {
    const over = () => this.#node(list.over).get() as readonly unknown[] | undefined;
    const keyOf = (item: unknown) => String((item as Record<string, unknown>)[list.key]);
    const rows = map(
      name,
      over,
      (item: Readable<unknown>, at) => this.#derive(`${name}\u0000${at.key}`, list.expr, item),
      { key: keyOf },
    );
    this.#nodes.set(name, rows as Readable<unknown>);
  }

  #declareHandler(name: string): void {
    const operations = this.#file.handlers?.[name] ?? [];
    const stream = handler(handlerNodeName(this.#file, name), anything, (payload, ctx) => {
      this.#count(`${name}\u0000handler`);
      return watched(this.#host.watch, ctx.eventKey(), () =>
        runOperations(operations, {
          ctx,
          cell: (node) => ctx.cell(this.#node(node) as Cell<unknown>),
          stream: (node) => ctx.stream(this.#stream(node)),
          linkOf: (address) => this.#host.streamLink(address),
          grantee: (user) => this.#host.grantee(user),
          value: (expression) =>
            evaluate(expression, this.#handlerScope(`${name}\u0000handler`, payload, ctx)),
          waitFor: (gate) => this.#host.waitFor(gate),
          createPiece: (piece, patternName) => this.#createPiece(ctx, piece, patternName),
        }),
      );
    });
    this.#streams.set(name, stream);
  }

  #declareSend(name: string, send: { when: Expression; to: string; payload: Expression }): void {
    const sender = sendOnChange(
      name,
      () => this.#derive(`${name}\u0000when`, send.when),
      () => this.#stream(send.to),
      () => evaluate(send.payload, this.#scope(name)),
    );
    this.#nodes.set(name, sender as Readable<unknown>);
  }

  #createPiece(ctx: HandlerContext, piece: string, patternName: string): void {
    const made = ctx.createPiece(this.#host.pattern(patternName), {}, { name: piece });
    this.#host.pieceCreated(piece, patternName, made.id);
  }

  #derive(run: string, expression: Expression, item?: Readable<unknown>): JsonValue {
    this.#count(run);
    return evaluate(expression, this.#scope(run, item));
  }

  #count(run: string): void {
    this.#runs.set(run, (this.#runs.get(run) ?? 0) + 1);
  }

  #scope(run: string, item?: Readable<unknown>): EvaluationScope {
    return {
      node: (name, path) => at(this.#node(name), path).get(),
      read: (address) => {
        const { link, initial } = this.#host.resolve(address);
        return cellAt<unknown>(link, { default: initial }).get();
      },
      payload: () => undefined,
      argument: (path) => at(this.#argument, path).get(),
      item: (path) => (item ? at(item, path).get() : undefined),
      principal: currentPrincipal,
      eventKey,
      now,
      random,
      busy: (ms) => this.#host.busy(ms),
      ran: () => this.#runs.get(run) ?? 0,
    };
  }

  #handlerScope(run: string, payload: unknown, ctx: HandlerContext): EvaluationScope {
    return {
      ...this.#scope(run),
      node: (name, path) => at(ctx.cell(this.#node(name)), path).get(),
      read: (address) => {
        const { link, initial } = this.#host.resolve(address);
        return ctx.cellAt<unknown>(link, { default: initial }).get();
      },
      payload: (path) => path.reduce<unknown>(step, payload),
      argument: (path) => at(ctx.cell(this.#argument), path).get(),
      principal: () => ctx.currentPrincipal(),
      eventKey: () => ctx.eventKey(),
      now: () => ctx.now(),
      random: () => ctx.random(),
    };
  }

  #node(name: string): Readable<unknown> {
    const node = this.#nodes.get(name);
    if (!node) throw new Error(`the pattern has no cell, computed, effect or map "${name}"`);
    return node;
  }

  #stream(name: string): Stream<unknown> {
    const stream = this.#streams.get(name);
    if (!stream) throw new Error(`the pattern has no handler "${name}"`);
    return stream;
  }
}

/** Runs a handler's body and tells who watches when it began and how it ended, whatever it returns or throws. */
function watched<T>(watch: HandlerWatch | undefined, key: string, body: () => T): T {
  if (watch === undefined) return body();
  watch.begins(key);
  const ends = (how: "ok" | "throws"): void => watch.ends(key, how);
  try {
    const result = body();
    if (result instanceof Promise)
      result.then(
        () => ends("ok"),
        () => ends("throws"),
      );
    else ends("ok");
    return result;
  } catch (error) {
    ends("throws");
    throw error;
  }
}

/** The part of a node at a path. */
function at(node: Readable<unknown>, path: Path): Readable<unknown> {
  return path.reduce<Readable<unknown>>((part, key) => part.key(key), node);
}

function step(value: unknown, key: string | number): unknown {
  return value !== null && typeof value === "object" && Object.hasOwn(value, key)
    ? (value as Record<string | number, unknown>)[key]
    : undefined;
}
