import type { ActionId, DocId, EventId, SpaceId } from "@tidemark/protocol";
import type { BuiltInName, RuntimeReport } from "@tidemark/runtime";
import type { SchedulerReport } from "@tidemark/scheduler";
import type { ParkReason } from "../host/park.js";

/** What a tenure tells whoever watches; nothing here is decided by. */
export type ServingReport =
  | { readonly kind: "scheduler"; readonly space: SpaceId; readonly report: SchedulerReport }
  | { readonly kind: "runtime"; readonly space: SpaceId; readonly report: RuntimeReport }
  | {
      readonly kind: "piece-failed";
      readonly space: SpaceId;
      readonly piece: string;
      readonly error: unknown;
    }
  | {
      readonly kind: "event-failed";
      readonly space: SpaceId;
      readonly event: EventId;
      readonly error: unknown;
    }
  | {
      readonly kind: "handler-slow";
      readonly space: SpaceId;
      readonly event: EventId;
      readonly error: unknown;
    }
  | {
      /** A performer failed in a way that it did not name. */
      readonly kind: "effect-failed";
      readonly space: SpaceId;
      readonly builtIn: BuiltInName;
      readonly action: ActionId;
      readonly error: unknown;
    }
  | {
      /** A demanded root that keeps not being there: at the threshold and at each doubling of it. */
      readonly kind: "structure-stuck";
      readonly space: SpaceId;
      readonly root: string;
      readonly deferrals: number;
    }
  | {
      /** An event ended, and its receipt stays as somebody else had written it. */
      readonly kind: "receipt-stands";
      readonly space: SpaceId;
      readonly event: EventId;
      readonly receipt: DocId;
    }
  | {
      /** The lease is held and the loop runs; `reused` where the runtime is the one of the tenure before. */
      readonly kind: "tenure-began";
      readonly space: SpaceId;
      readonly reused: boolean;
    }
  | {
      /** A tenure that had begun is over, its lease given back unless somebody else has it. */
      readonly kind: "tenure-ended";
      readonly space: SpaceId;
      readonly reason: ParkReason;
    }
  | { readonly kind: "tenure-failed"; readonly space: SpaceId; readonly error: unknown }
  | { readonly kind: "dispose-late"; readonly space: SpaceId; readonly afterMs: number };
