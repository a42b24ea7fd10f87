import {
  ACL_DOC,
  docKind,
  instanceKey,
  parseInstanceKey,
  pieceIdFor,
  SPACE_SCOPE_KEY,
} from "@tidemark/protocol";
import type {
  Acl,
  AppendRequest,
  AuthoredCommit,
  DocId,
  InstanceKey,
  JsonValue,
  LocalSeq,
  Seq,
  SpaceId,
} from "@tidemark/protocol";
import { describePiece } from "@tidemark/runtime";
import type { Pattern, PatternResult } from "@tidemark/runtime";
import type { FiredEvent } from "../handle/fired-event.js";
import { PieceHandle } from "../handle/piece.js";
import type { PieceOptions } from "../handle/piece.js";
import { LiveValue } from "../handle/value-handle.js";
import type { ValueHandle } from "../handle/value-handle.js";
import type { Observable } from "../session/observable.js";
import { storable } from "../writes/build.js";
import type { ClientContext } from "./context.js";
import { PIECES_KEY } from "./local-space.js";
import type { Committed } from "./outgoing.js";
import { patternRef } from "./piece-book.js";
import { Shown } from "./publisher.js";
import { ReceiptReader } from "./receipts.js";
import { SpaceCore } from "./space-core.js";
import type { SpaceState } from "./space-link.js";

/** A piece as the list of a space's pieces shows it. */
export interface PieceSummary {
  readonly id: DocId;
  readonly pattern: { readonly id: string; readonly version: string } | undefined;
}

/** How a piece is created. */
export interface CreateOptions extends PieceOptions {
  /** What the piece's id is made from; the same cause, the same piece. By default a fresh one. */
  readonly cause?: JsonValue;
}

/** A piece that this client creates. */
export interface CreatedPiece<R extends PatternResult> {
  readonly piece: PieceHandle<R>;
  /** Settles as its commit does. */
  readonly created: Promise<Committed>;
}

/** Straight to admission, past queue and echo. For tools and tests. */
export interface RawAccess {
  append(request: Omit<AppendRequest, "localSeq"> & { readonly localSeq?: LocalSeq }): Promise<{
    readonly seq: Seq;
    readonly index: number;
  }>;
  commit(
    commit: Omit<AuthoredCommit, "localSeq"> & { readonly localSeq?: LocalSeq },
  ): Promise<Committed>;
  /** Fires at a stream by its id. */
  fire(stream: DocId, payload: JsonValue): FiredEvent;
}

/** A space as a client sees it. */
export class Space {
  readonly id: SpaceId;
  /** @internal */
  readonly core: SpaceCore;
  readonly raw: RawAccess;
  #acl: LiveValue<Acl> | undefined;
  #pieces: LiveValue<readonly PieceSummary[]> | undefined;

  constructor(id: SpaceId, context: ClientContext) {
    this.id = id;
    this.core = new SpaceCore(id, context);
    this.core.watchAcl = () => void this.acl;
    const receipts = new ReceiptReader({
      space: id,
      state: this.state,
      status: context.session.status,
      watch: (doc) => this.#watchDocument(doc),
      live: (key) => this.#live<JsonValue>((track) => this.#readKey(key, track)),
    });
    this.core.readReceipt = (record) => receipts.read(record);
    this.raw = rawAccess(this.core);
  }

  /** Resolves when the space's first frame is integrated. */
  get ready(): Promise<void> {
    return this.core.ready;
  }

  /** What the subscription is doing. */
  get state(): Observable<SpaceState> {
    return this.core.link.state;
  }

  /** Appends and commits not yet acknowledged. */
  get queued(): number {
    return this.core.outbox.size;
  }

  /** Appends not yet acknowledged. */
  get queuedEvents(): number {
    return this.core.outbox.items().filter(({ body }) => body.kind === "append").length;
  }

  /** Events whose handling has not ended. */
  get outstanding(): number {
    return this.core.outstanding;
  }

  /** Live entries of the overlay. */
  get speculative(): number {
    return this.core.local.overlay.size;
  }

  /** The seq and watermark that integrated frames have brought this client to. */
  get position(): { readonly seq: Seq; readonly watermark: Seq } {
    return this.core.local.replica.position;
  }

  /**
   * A piece by id, or by link; with its pattern, typed by it.
   *
   * @throws LimitError where as many pieces are watched as a session may: close one first.
   */
  piece<A, R extends PatternResult>(
    piece: DocId | { readonly id: DocId },
    pattern: Pattern<A, R>,
    options?: PieceOptions,
  ): PieceHandle<R>;
  piece(piece: DocId | { readonly id: DocId }, options?: PieceOptions): PieceHandle;
  piece(
    piece: DocId | { readonly id: DocId },
    second?: Pattern | PieceOptions,
    third?: PieceOptions,
  ): PieceHandle {
    const id = typeof piece === "string" ? piece : piece.id;
    const pattern = second !== undefined && "instantiate" in second ? second : undefined;
    if (pattern !== undefined) this.core.context.registry.register(pattern);
    return new PieceHandle(
      this.core,
      id,
      pattern,
      pattern === undefined ? (second as PieceOptions) : third,
    );
  }

  /**
   * Creates a piece and shows it at once.
   *
   * @throws ProtocolError for an argument that does not fit; PatternError for a taken pattern name; LimitError where as
   * many pieces are watched as a session may.
   */
  create<A, R extends PatternResult>(
    pattern: Pattern<A, R>,
    argument?: unknown,
    options: CreateOptions = {},
  ): CreatedPiece<R> {
    const { context } = this.core;
    const cause = options.cause ?? { by: context.identity.did, ulid: context.ids.ulid() };
    const id = pieceIdFor(cause);
    const value = storable(describePiece(pattern as unknown as Pattern, argument, id));
    context.registry.register(pattern as unknown as Pattern);
    const piece = new PieceHandle<R>(this.core, id, pattern as unknown as Pattern, options);
    const created = this.core.commit({
      ops: [{ op: "set", id, value }],
      preconditions: [{ kind: "create-only", id }],
    });
    created.catch((error) => context.report(error));
    return { piece, created };
  }

  /** The access list, live. */
  get acl(): ValueHandle<Acl> {
    if (this.#acl !== undefined) return this.#acl;
    const key = instanceKey(ACL_DOC, SPACE_SCOPE_KEY);
    this.#watchDocument(ACL_DOC);
    const acl = this.#live<Acl>((track) => this.#readKey(key, track));
    let known: Acl | undefined;
    acl.subscribe((value) => {
      // A change, not the first sight: a grant may be what an unproven denial is waiting for.
      if (known !== undefined) this.core.outbox.retry();
      known = value;
    });
    this.#acl = acl;
    return acl;
  }

  /** Replaces the access list. For owners. */
  setAcl(acl: Acl): Promise<Committed> {
    const value = storable(acl);
    return this.core.commit({ ops: [{ op: "set", id: ACL_DOC, value }] });
  }

  /** Every piece of the space, live, by id. */
  get pieces(): ValueHandle<readonly PieceSummary[]> {
    if (this.#pieces !== undefined) return this.#pieces;
    if (this.core.watches.add({ id: "pieces", pieces: true })) this.core.link.watchesChanged();
    this.#pieces = this.#live((track) => this.#listPieces(track));
    return this.#pieces;
  }

  /**
   * Resolves when the server has settled everything up to `seq`, or all that this client has
   * committed so far (protocol.md §5).
   */
  waitForSettled(seq?: Seq): Promise<void> {
    return this.core.waitForSettled(seq);
  }

  #watchDocument(id: DocId): () => void {
    const { watches, link } = this.core;
    if (watches.add({ id, root: { id }, selector: { kind: "value" } })) link.watchesChanged();
    return () => {
      if (watches.remove(id)) link.watchesChanged();
    };
  }

  #readKey(key: InstanceKey, track: (key: InstanceKey) => void): ReturnType<Shown["compute"]> {
    track(key);
    const read = this.core.local.view.read(key);
    return read.state === "held" ? { state: "value", value: read.value } : { state: "pending" };
  }

  #listPieces(track: (key: InstanceKey) => void): ReturnType<Shown["compute"]> {
    track(PIECES_KEY);
    const { overlay, replica } = this.core.local;
    const list: PieceSummary[] = [];
    for (const key of new Set([...replica.keys(), ...overlay.view.keys()])) {
      const { id } = parseInstanceKey(key);
      if (docKind(id) !== "piece") continue;
      const document = overlay.view.get(key)?.value;
      if (document !== undefined) list.push({ id, pattern: patternRef(document) });
    }
    list.sort((a, b) => (a.id < b.id ? -1 : 1));
    return { state: "value", value: list as unknown as JsonValue };
  }

  #live<T>(read: ConstructorParameters<typeof Shown>[1]): LiveValue<T> {
    const { publisher } = this.core.local;
    return new LiveValue<T>(new Shown(publisher, read), publisher);
  }
}

function rawAccess(core: SpaceCore): RawAccess {
  const { session } = core.context;
  return {
    append: ({ localSeq = session.nextLocalSeq(), ...append }) =>
      session.request<"append">({
        type: "append",
        space: core.id,
        append: { localSeq, ...append },
      }),
    commit: ({ localSeq = session.nextLocalSeq(), ...commit }) =>
      session.request<"commit">({
        type: "commit",
        space: core.id,
        commit: { localSeq, ...commit },
      }),
    fire: (stream, payload) => core.fire(stream, storable(payload)),
  };
}
