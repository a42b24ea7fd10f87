import {
  isTidemarkError,
  type AcceptedCommit,
  type Cancellable,
  type Clock,
  type AuthorizationError,
  type Gates,
  type HolderId,
  type Principal,
  type Seq,
  type SpaceId,
  type TidemarkError,
} from "@tidemark/protocol";
import type { Engine } from "../../engine-types.js";
import {
  accessVerdict,
  checkAccess,
  commitAccess,
  type AccessRequest,
} from "../admission/access.js";
import { AclView } from "../admission/acl-view.js";
import { commitWave } from "../derived/commit.js";
import { commitDirect, writeRefusal, type DirectRequest } from "../derived/direct.js";
import { CommitFeed } from "../feed/commit-feed.js";
import type { ServerPolicy } from "../policy.js";
import { SpacePush } from "../push/space-push.js";
import type { ServerCounters } from "../stats.js";
import type {
  AccessVerdict,
  AdmissionNotice,
  DemandCause,
  DemandNews,
  DemandShare,
  DerivedOptions,
  DerivedPlan,
  DerivedVerdict,
  DirectVerdict,
  FeedOptions,
  ServedSpace,
  ServerLog,
  SessionRef,
  Subscription,
  SystemPlan,
} from "../types.js";
import { Intake } from "./intake.js";
import type { AdmissionContext } from "./requests.js";

/** What one space works with. */
export interface SpaceDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly policy: ServerPolicy;
  readonly counters: ServerCounters;
  readonly log: ServerLog;
  readonly notify: (notice: AdmissionNotice) => void;
}

const NO_NEWS: DemandNews = { watches: 0, growths: 0 };

/** One open space of a server: wires store, intake, feed and push; decides nothing itself. */
export class SpaceCore implements ServedSpace {
  readonly space: SpaceId;
  readonly engine: Engine;
  readonly acl: AclView;
  readonly intake: Intake;
  readonly push: SpacePush;
  readonly context: AdmissionContext;
  readonly #deps: SpaceDeps;
  readonly #feed: CommitFeed;
  readonly #demandWatchers = new Set<(news: DemandNews) => void>();
  #demandNews = NO_NEWS;
  #demandTold: Cancellable | undefined;
  #dataVersion: number;
  /** A transaction of this process failed, and may stand: no data version tells of an own commit. */
  #unsure = false;
  #poll: Cancellable | undefined;
  #holds = 0;
  /** Subscriptions to the feed that do not have the store polled. */
  #quiet = 0;
  #stopped = false;

  constructor(deps: SpaceDeps) {
    const { engine, counters } = deps;
    this.#deps = deps;
    this.space = engine.space;
    this.engine = engine;
    this.acl = new AclView(engine);
    this.#dataVersion = engine.dataVersion();
    const head = engine.head();
    this.#feed = new CommitFeed(engine, head, (error) =>
      this.#logFailure("a feed callback", error),
    );
    this.intake = new Intake({
      engine,
      clock: deps.clock,
      onGroup: () => counters.add("groups"),
      onCommits: (commits) => this.#accepted(commits),
      onFailure: () => this.#lookAgain(),
    });
    this.push = this.#makePush();
    this.#feed.subscribe(head, (commit) => this.push.add(commit));
    const onReplay = (): void => counters.add("replays");
    this.context = { space: this.space, engine, acl: this.acl, onReplay };
  }

  feed(
    from: Seq,
    fn: (commit: AcceptedCommit) => void,
    { quiet = false }: FeedOptions = {},
  ): Subscription {
    const subscription = this.#feed.subscribe(from, fn);
    if (quiet) this.#quiet += 1;
    else this.#armPoll();
    let open = true;
    return {
      close: () => {
        if (!open) return;
        open = false;
        subscription.close();
        if (quiet) this.#quiet -= 1;
        this.#disarmIdlePoll();
      },
    };
  }

  refresh(): boolean {
    const version = this.engine.dataVersion();
    const unsure = this.#unsure;
    if (version === this.#dataVersion && !unsure) return false;
    const known = this.#feed.head;
    const found = this.#feed.catchUp();
    // Only now: what could not be read is looked for again.
    this.#dataVersion = version;
    this.#unsure = false;
    if (unsure && found) this.#tellHost(this.engine.commitsSince(known));
    return found;
  }

  demand(): ReadonlyMap<SessionRef, DemandShare> {
    const shares = new Map<SessionRef, DemandShare>();
    for (const channel of this.push.channels) shares.set(channel.session.ref, channel.share());
    return shares;
  }

  onDemand(fn: (news: DemandNews) => void): Subscription {
    this.#demandWatchers.add(fn);
    return { close: () => void this.#demandWatchers.delete(fn) };
  }

  liveSessions(): number {
    return this.push.channels.size;
  }

  commitDerived(holder: HolderId, plan: DerivedPlan, options: DerivedOptions = {}): DerivedVerdict {
    const written = this.#attempt(() => commitWave(this.engine, holder, plan));
    if (!written.ok) return written;
    const { value: commits } = written;
    return { ok: true, commits, commit: commits.at(-1), release: this.#derived(commits, options) };
  }

  checkWrite(principal: Principal): AuthorizationError | undefined {
    return writeRefusal(this.context, principal);
  }

  commitDirect(
    holder: HolderId,
    request: DirectRequest,
    options: DerivedOptions = {},
  ): DirectVerdict {
    const written = this.#attempt(() => commitDirect(this.context, holder, request));
    if (!written.ok) return written;
    const { seq, commit } = written.value;
    const commits = commit === undefined ? [] : [commit];
    return { ok: true, seq, commit, release: this.#derived(commits, options) };
  }

  checkAccess(request: AccessRequest): AccessVerdict {
    const { counters } = this.#deps;
    return accessVerdict(counters, () => checkAccess(this.context, request));
  }

  commitAccess(holder: HolderId, request: AccessRequest): AccessVerdict {
    const { counters } = this.#deps;
    const verdict = this.#surely(() =>
      accessVerdict(counters, () => commitAccess(this.context, holder, request)),
    );
    if (!verdict.ok || verdict.commit === undefined) return verdict;
    counters.add("authored");
    this.#accepted([verdict.commit]);
    return verdict;
  }

  commitSystem(plan: SystemPlan): AcceptedCommit | undefined {
    const commit = this.#surely(() =>
      this.engine.transact((tx) => {
        const changes = plan(tx);
        if (changes === undefined || changes.length === 0) return undefined;
        for (const change of changes) tx.write(change);
        return tx.commit({ class: "system" });
      }),
    );
    if (commit !== undefined) this.#feed.publish([commit]);
    return commit;
  }

  /** A session came or went: polling follows, and the host is told. */
  sessionsChanged(): void {
    if (this.push.channels.size > 0) this.#armPoll();
    else this.#disarmIdlePoll();
    this.#deps.notify({ space: this.space, commit: undefined, reason: "session" });
  }

  /** Nobody has the space open and nobody follows its feed. */
  get idle(): boolean {
    return this.push.channels.size === 0 && this.#feed.subscribers <= 1 && this.#holds === 0;
  }

  /** Somebody wants to be told of other processes' commits without asking. */
  get #polls(): boolean {
    const following = this.#feed.subscribers - 1 - this.#quiet;
    return this.push.channels.size > 0 || following > 0 || this.#holds > 0;
  }

  /** Timers that stand for this space. */
  get timers(): number {
    return this.#poll === undefined ? 0 : 1;
  }

  stop(): void {
    if (this.#stopped) return;
    this.intake.flush();
    this.#stopped = true;
    this.push.stop();
    this.#poll?.cancel();
    this.#poll = undefined;
    this.#demandTold?.cancel();
    this.engine.close();
  }

  #makePush(): SpacePush {
    return new SpacePush({
      ...this.#deps,
      acl: this.acl,
      catchUp: () => void this.refresh(),
      held: () => this.#holds > 0,
      onDemand: (cause) => this.#tellDemand(cause),
    });
  }

  /** A refusal as data. Anything but an error of ours is a fault of the plan's own code, and the caller's to see. */
  #attempt<T>(
    commit: () => T,
  ):
    | { readonly ok: true; readonly value: T }
    | { readonly ok: false; readonly error: TidemarkError } {
    try {
      return { ok: true, value: this.#surely(commit) };
    } catch (error) {
      if (!isTidemarkError(error)) throw error;
      this.#deps.counters.refuse(error.code);
      return { ok: false, error };
    }
  }

  /** Tells of derived commits, now or when the returned function is called. */
  #derived(commits: readonly AcceptedCommit[], { hold }: DerivedOptions): () => void {
    if (commits.length === 0) return () => undefined;
    this.#deps.counters.add("derived", commits.length);
    if (hold === true) return this.#hold(commits);
    this.#feed.publish(commits);
    return () => undefined;
  }

  #accepted(commits: readonly AcceptedCommit[]): void {
    this.#feed.publish(commits);
    this.#tellHost(commits);
  }

  #tellHost(commits: readonly AcceptedCommit[]): void {
    for (const commit of commits) {
      if (commit.class !== "authored") continue;
      this.#deps.notify({ space: this.space, commit, reason: "commit" });
    }
  }

  /** A disk that says too late that it failed leaves a commit of which nobody was told. */
  #surely<T>(commit: () => T): T {
    try {
      return commit();
    } catch (error) {
      if (isTidemarkError(error, "storage")) this.#lookAgain();
      throw error;
    }
  }

  /** What a failed transaction left, if it left anything, is told as if another process had made it. */
  #lookAgain(): void {
    this.#unsure = true;
    try {
      this.refresh();
    } catch (error) {
      this.#logFailure("looking for what a failed transaction left", error);
    }
  }

  /** Durable, and nobody is told until the returned function is called. */
  #hold(commits: readonly AcceptedCommit[]): () => void {
    this.#holds += 1;
    this.#feed.hold();
    this.#feed.publish(commits);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      this.#holds -= 1;
      this.#feed.release();
      this.push.schedule();
    };
  }

  /** Once per macrotask: the executor reads the shares, not the news. */
  #tellDemand(cause: DemandCause): void {
    if (this.#demandWatchers.size === 0 || this.#stopped) return;
    const { watches, growths } = this.#demandNews;
    this.#demandNews = {
      watches: watches + (cause === "watch" ? 1 : 0),
      growths: growths + (cause === "growth" ? 1 : 0),
    };
    this.#demandTold ??= this.#deps.clock.immediate(() => {
      this.#demandTold = undefined;
      const news = this.#demandNews;
      this.#demandNews = NO_NEWS;
      for (const fn of this.#demandWatchers) fn(news);
    });
  }

  #armPoll(): void {
    if (this.#stopped) return;
    this.#poll ??= this.#deps.clock.timer(this.#deps.policy.pollMs, () => {
      this.#poll = undefined;
      try {
        this.refresh();
      } catch (error) {
        this.#logFailure("looking for commits of other processes", error);
      }
      if (this.#polls) this.#armPoll();
    });
  }

  #logFailure(what: string, error: unknown): void {
    this.#deps.log("error", `${what} failed`, { space: this.space, error: String(error) });
  }

  #disarmIdlePoll(): void {
    if (this.#polls) return;
    this.#poll?.cancel();
    this.#poll = undefined;
  }
}
