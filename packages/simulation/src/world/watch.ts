import type { Engine } from "@tidemark/memory-engine";
import type { HolderId, SpaceId } from "@tidemark/protocol";
import type { HandlerWatch } from "../pattern/build-pattern.js";
import type { ClientFile } from "../scenario/file.js";
import type { ScenarioClient } from "./client.js";
import type { DiskWatcher } from "./disks.js";
import type { GateWatcher } from "./gates.js";

/** What a world tells a judge. It changes nothing and decides nothing. */
export interface WorldWatch {
  readonly gate?: GateWatcher;
  /** A client has been made and has not yet opened anything. */
  readonly client?: (client: ScenarioClient, file: ClientFile) => void;
  /** A process has opened a store. */
  readonly store?: (process: string, engine: Engine) => void;
  /** A process began, ended, stands still or goes on; `holder` is who it is to the lease. */
  readonly process?: (name: string, what: ProcessChange, holder: string) => void;
  /** A server granted or told an intruder what it may not. */
  readonly breach?: (what: string) => void;
  /** A disk failed a process, or kept it waiting. */
  readonly disk?: DiskWatcher;
  /** The bodies of the handlers that a process runs. */
  readonly handlers?: (process: string) => HandlerWatch;
  /**
   * Somebody wrote the lease row of a space by hand: it names the holder for `ttlMs` from now on. A step of the store's
   * clock does the same to a row, under its own holder; `ttlMs` below zero: it has run out.
   */
  readonly theft?: (space: SpaceId, holder: HolderId, ttlMs: number) => void;
}

/** What becomes of a process. */
export type ProcessChange = "starts" | "dies" | "stops" | "stands still" | "goes on";
