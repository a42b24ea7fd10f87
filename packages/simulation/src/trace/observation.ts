import type { AcceptedCommit, EventId, GateName, HolderId, SpaceId } from "@tidemark/protocol";
import type { GateEncounter } from "../world/gates.js";
import type { ProcessChange } from "../world/watch.js";
import type { Behind } from "./behind.js";

/** Place of an entry in its space, as the commit gave it. */
export interface PlaceSeen {
  readonly stream: string;
  readonly seq: number;
  readonly index: number;
}

/** One thing that was seen of the running system, in the order in which it happened. `at`: true time, ms. */
export type Observation = { readonly at: number } & (
  | {
      readonly kind: "process";
      readonly process: string;
      readonly what: ProcessChange;
      readonly holder: string;
    }
  | {
      readonly kind: "gate";
      readonly space: SpaceId;
      readonly process: string;
      readonly gate: GateName;
      readonly met: GateEncounter;
      readonly event: EventId | undefined;
    }
  | {
      readonly kind: "body";
      readonly process: string;
      readonly key: string;
      readonly how?: "ok" | "throws";
    }
  | {
      readonly kind: "lease";
      readonly space: SpaceId;
      readonly process: string;
      readonly call: "acquire" | "renew" | "release";
      readonly holder: HolderId;
      readonly ttl: number;
      readonly ok: boolean;
    }
  | {
      readonly kind: "theft";
      readonly space: SpaceId;
      readonly holder: string;
      readonly ttl: number;
    }
  | {
      readonly kind: "commit";
      readonly space: SpaceId;
      readonly process: string;
      readonly commit: AcceptedCommit;
      /** Where W moved: what derivations have not taken in. */
      readonly behind: readonly Behind[];
    }
  /** A wave's transaction wrote nothing, or was refused by that error. */
  | {
      readonly kind: "no commit";
      readonly space: SpaceId;
      readonly process: string;
      readonly error: string | undefined;
    }
  /** An append of that event was asked about and refused. */
  | {
      readonly kind: "duplicate";
      readonly space: SpaceId;
      readonly stream: string;
      readonly event: string;
    }
  | { readonly kind: "compaction"; readonly space: SpaceId; readonly left: readonly PlaceSeen[] }
);

/** An observation of one kind. */
export type Seen<Kind extends Observation["kind"]> = Extract<Observation, { readonly kind: Kind }>;

/** An observation in a few words, for a finding. */
export function wordsOf(observation: Observation): string {
  switch (observation.kind) {
    case "process":
      return `${observation.process} ${observation.what}`;
    case "gate":
      return `${observation.process} at ${observation.gate} (${observation.met})`;
    case "body":
      return `a handler of ${observation.process} ${observation.how ?? "begins"}`;
    case "lease":
      return `${observation.process} ${observation.call} ${observation.ok ? "succeeds" : "fails"}`;
    case "theft":
      return `${observation.holder} writes the lease row`;
    case "commit":
      return `commit ${observation.commit.seq} (${observation.commit.class}) of ${observation.process}`;
    case "no commit":
      return `no commit of ${observation.process} (${observation.error ?? "nothing to write"})`;
    case "duplicate":
      return `${observation.event} is refused as a duplicate`;
    case "compaction":
      return "compaction";
  }
}
