import type { Cancellable, Clock } from "@tidemark/protocol";
import type { ServerPolicy } from "../policy.js";
import type { Channel } from "../space/channel.js";
import type { ServerCounters } from "../stats.js";

/** What the watch over slow readers works with. */
export interface LagDeps {
  readonly clock: Clock;
  readonly policy: ServerPolicy;
  readonly counters: ServerCounters;
}

/** Since when a session did not take a frame, and how great the frame was. */
interface Lag {
  readonly since: number;
  frameBytes: number;
}

/**
 * Bounds what a session that does not read costs (protocol.md §4, field fault RS-03): past the limit
 * its frames are not built any more, one resync replaces them once it reads again, and a session
 * that does not is cut off. One timer for all of a space's laggards, none while nobody lags.
 */
export class LagWatch {
  readonly #deps: LagDeps;
  readonly #onCaughtUp: (channel: Channel) => void;
  /** Kept until a frame went out, so that a session that takes a little now and then ends too. */
  readonly #lags = new Map<Channel, Lag>();
  #timer: Cancellable | undefined;

  constructor(deps: LagDeps, onCaughtUp: (channel: Channel) => void) {
    this.#deps = deps;
    this.#onCaughtUp = onCaughtUp;
  }

  /** Whether the frame may go out now. A session it may not go out to lags from here on. */
  admits(channel: Channel, frame: string): boolean {
    const { policy } = this.#deps;
    if (frame.length > policy.maxFrameBytes) {
      this.#cutOff(channel, `a frame of ${frame.length} is greater than ${policy.maxFrameBytes}`);
      return false;
    }
    if (this.#fits(channel, frame.length)) {
      this.#lags.delete(channel);
      return true;
    }
    this.#lag(channel, frame.length);
    return false;
  }

  forget(channel: Channel): void {
    this.#lags.delete(channel);
    if (this.#lags.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** A single frame may be greater than the bound: then it goes out alone. */
  #fits(channel: Channel, frameBytes: number): boolean {
    const waiting = channel.sink.bufferedBytes;
    return waiting === 0 || waiting + frameBytes <= this.#deps.policy.maxBufferedBytes;
  }

  #lag(channel: Channel, frameBytes: number): void {
    const lag = this.#lags.get(channel);
    if (lag === undefined) {
      this.#lags.set(channel, { since: this.#deps.clock.monotonic(), frameBytes });
    } else {
      lag.frameBytes = frameBytes;
    }
    channel.lagging = true;
    this.#arm();
  }

  #arm(): void {
    this.#timer ??= this.#deps.clock.timer(this.#deps.policy.slowCheckMs, () => this.#check());
  }

  #check(): void {
    this.#timer = undefined;
    const now = this.#deps.clock.monotonic();
    for (const [channel, lag] of this.#lags) {
      if (now - lag.since >= this.#deps.policy.slowCutoffMs) {
        this.#cutOff(channel, "it does not read");
      } else if (channel.lagging && this.#fits(channel, lag.frameBytes)) {
        channel.lagging = false;
        this.#onCaughtUp(channel);
      }
    }
    if (this.#lags.size > 0) this.#arm();
  }

  #cutOff(channel: Channel, why: string): void {
    this.#deps.counters.add("cutOff");
    this.#lags.delete(channel);
    channel.sink.terminate(why);
  }
}
