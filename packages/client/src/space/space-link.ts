import { AuthorizationError, ConnectionError, isTidemarkError } from "@tidemark/protocol";
import type {
  AclLevel,
  Cancellable,
  EventRef,
  Seq,
  SpaceId,
  TidemarkError,
  Watch,
} from "@tidemark/protocol";
import { backoffDelayMs } from "../session/backoff.js";
import { Observable } from "../session/observable.js";
import { AskingAgain } from "./asking-again.js";
import type { ClientContext } from "./context.js";
import { ResumePoint } from "./resume-point.js";
import type { WatchBook } from "./watch-book.js";

/** What a space's subscription is doing. */
export type SpaceState =
  | { readonly state: "offline" }
  /** On its way. `error`: the last attempt was refused for now, and another one is planned. */
  | { readonly state: "opening"; readonly error?: TidemarkError }
  | { readonly state: "open"; readonly level: AclLevel }
  /** The access list does not let this user read the space, or does not any more. It is asked for again. */
  | { readonly state: "denied"; readonly error: TidemarkError };

/** What a {@link SpaceLink} is given. */
export interface SpaceLinkOptions {
  readonly context: ClientContext;
  readonly space: SpaceId;
  readonly watches: WatchBook;
  /** The seq up to which frames are integrated. */
  position(): Seq;
  /** Own events whose end is still to be learned. */
  outstanding(): readonly EventRef[];
  /** The space is open on this connection, or will not be: what waits to be sent may go. */
  onOpened(): void;
}

/**
 * The subscription of one space over the connections that come and go. It resumes from what is
 * integrated, under the history that it was integrated from, and asks for everything anew where the
 * frames do not fit (R26).
 */
export class SpaceLink {
  readonly state = new Observable<SpaceState>({ state: "offline" });
  readonly resume = new ResumePoint();
  readonly #options: SpaceLinkOptions;
  #generation = 0;
  #attempt = 0;
  #retry: Cancellable | undefined;
  readonly #again: AskingAgain;
  #watchesDue = false;

  constructor(options: SpaceLinkOptions) {
    this.#options = options;
    const { clock, random, policy } = options.context;
    const ask = (): void => void this.#open(false);
    this.#again = new AskingAgain({ clock, random, policy: policy.denied, ask });
  }

  /** A connection stands. */
  online(): void {
    this.#attempt = 0;
    void this.#open(true);
  }

  offline(): void {
    this.#generation += 1;
    this.resume.offline();
    this.#retry?.cancel();
    this.#again.stop();
    this.state.set({ state: "offline" });
  }

  /** What is held does not fit the frames, or the session became another one: everything anew. */
  resync(): void {
    this.resume.forget();
    if (this.#options.context.session.online) void this.#open(false);
  }

  /** The next open does not resume. */
  forget(): void {
    this.resume.forget();
  }

  /** Reading was taken away. */
  revoked(reason: string): void {
    this.resume.forget();
    // An answer that is still on its way was given before this.
    this.#generation += 1;
    this.#denied(new AuthorizationError(reason, {}));
  }

  /** An append or a commit of this client was accepted here: where the space was denied, it may be no more. */
  accepted(): void {
    this.#again.accepted();
  }

  /** Tells the server of a changed list of watches, once for all changes of one turn of the host. */
  watchesChanged(): void {
    if (this.#watchesDue) return;
    this.#watchesDue = true;
    void Promise.resolve().then(() => {
      this.#watchesDue = false;
      if (this.state.value.state === "open") void this.#sendWatches();
    });
  }

  close(): void {
    this.offline();
    const { context, space } = this.#options;
    if (context.session.online) {
      context.session.request({ type: "space.close", space }).catch(() => undefined);
    }
  }

  async #open(resume: boolean): Promise<void> {
    const { context, space, watches, position, outstanding } = this.#options;
    this.#generation += 1;
    const generation = this.#generation;
    const asking = this.state.value.state === "denied";
    // An attempt that follows a refusal keeps showing it: nothing is better for having been tried again.
    if (!asking && this.state.value.state !== "opening") this.state.set({ state: "opening" });
    const from = resume ? this.resume.held : undefined;
    const told = from?.watches ?? watches.list();
    const cursor =
      from === undefined ? {} : { cursor: { historyId: from.historyId, seq: position() } };
    const request = { type: "space.open", space, watches: told, events: outstanding() } as const;
    try {
      const { level } = await context.session.request<"space.open">(
        { ...request, ...cursor },
        ({ historyId }) => {
          if (generation === this.#generation) this.resume.opened(historyId, told);
        },
      );
      if (generation !== this.#generation) return;
      this.#attempt = 0;
      this.#again.stop();
      this.state.set({ state: "open", level });
      if (!sameWatches(watches.list(), told)) void this.#sendWatches();
    } catch (error) {
      if (generation === this.#generation) this.#openFailed(error);
    }
    // Denied as before: what waits in the queue for a change of access waits on.
    const same = asking && this.state.value.state === "denied";
    if (generation === this.#generation && !same) this.#options.onOpened();
  }

  #openFailed(error: unknown): void {
    if (error instanceof ConnectionError && !this.#options.context.session.online) return;
    if (!isTidemarkError(error)) throw error;
    if (error instanceof AuthorizationError && !error.retriable) return this.#denied(error);
    this.#again.stop();
    this.state.set({ state: "opening", error });
    const { context } = this.#options;
    const delay = backoffDelayMs(this.#attempt, context.policy.backoff, context.random);
    this.#attempt += 1;
    this.#retry?.cancel();
    this.#retry = context.clock.timer(delay, () => void this.#open(true));
  }

  #denied(error: AuthorizationError): void {
    const shown = this.state.value;
    // The same words again are no news to whoever shows them.
    const news = shown.state !== "denied" || shown.error.message !== error.message;
    if (news) this.state.set({ state: "denied", error });
    this.#again.denied();
  }

  async #sendWatches(): Promise<void> {
    const { context, space } = this.#options;
    const watches = this.#options.watches.list();
    try {
      await context.session.request<"watch.set">({ type: "watch.set", space, watches }, () =>
        this.resume.watching(watches),
      );
    } catch (error) {
      // A lost connection tells the list anew when it is back.
      if (!(error instanceof ConnectionError)) context.report(error);
    }
  }
}

function sameWatches(a: readonly Watch[], b: readonly Watch[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
