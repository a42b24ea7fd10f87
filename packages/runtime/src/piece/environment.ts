import type { SendOrigin } from "@tidemark/events";
import type { ActionId, DocId, InstanceKey, JsonValue } from "@tidemark/protocol";
import type { NodeHandle, NodeSpec } from "@tidemark/scheduler";
import type { TransactionHost } from "../transaction/host.js";
import type { LoggedRead, RuntimeReport, SealDestination } from "../types.js";

/** What runs of a piece's nodes need of their runtime. */
export interface RunEnvironment {
  readonly host: TransactionHost;
  readonly seal: SealDestination;
  report(report: RuntimeReport): void;
  openSendOrigin(): SendOrigin;
  /** The reads as recovery knows them: documents of stores, and the piece's pattern pointer. */
  durableReads(reads: readonly LoggedRead[]): readonly LoggedRead[];
  /** A run was given up because an input is not there. */
  waiting(action: ActionId, on: InstanceKey | undefined): void;
}

/** What a piece needs to put its nodes into the graph. */
export interface GraphEnvironment {
  environmentOf(piece: PieceIdentity): RunEnvironment;
  /** Registers, and marks as current what recovery knows to be (`recover: false`: never). */
  register(spec: NodeSpec, options: { readonly recover: boolean }): NodeHandle;
  unregister(handle: NodeHandle): void;
  addTransient(key: InstanceKey, source: TransientSource): void;
  removeTransient(key: InstanceKey): void;
  addCell(id: DocId, initial: JsonValue | undefined): void;
  removeCell(id: DocId): void;
  addDerived(key: InstanceKey, handle: NodeHandle): void;
  removeDerived(key: InstanceKey): void;
}

/** Which piece a run belongs to. */
export interface PieceIdentity {
  readonly document: InstanceKey;
}

/** A value that the graph holds and no store does. */
export interface TransientSource {
  value(): JsonValue | undefined;
  /** What the value was computed from, for recovery. */
  reads(): readonly LoggedRead[];
}
