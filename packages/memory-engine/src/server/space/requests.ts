import { hash as digest } from "node:crypto";
import {
  MAIN_BRANCH,
  ProtocolError,
  type AppendRequest,
  type AuthoredCommit,
  type LocalSeq,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import type { Engine, ReplayVerdict } from "../../engine-types.js";
import type { AclView } from "../admission/acl-view.js";
import { admitEvent } from "../admission/append.js";
import { admitAuthored } from "../admission/authored.js";
import { replayKeyOf, type Envelope } from "../admission/envelope.js";
import { commitGenesis, type GenesisRequest } from "../admission/genesis.js";
import type { Admitted } from "./intake.js";

/** What a request of one space is admitted against. */
export interface AdmissionContext {
  readonly space: SpaceId;
  readonly engine: Engine;
  readonly acl: AclView;
  readonly onReplay: () => void;
}

/** The answer to an append. `replayed`: the stored verdict, nothing was written. */
export interface AppendResult {
  readonly seq: Seq;
  readonly index: number;
  readonly replayed: boolean;
}

/** One authored write: an exact replay is answered before any authority is checked. */
export function writeRequest(
  context: AdmissionContext,
  commit: AuthoredCommit,
  envelope: Envelope,
): Admitted<{ readonly seq: Seq }> {
  const { engine, acl, space } = context;
  const hash = bodyHash("commit", commit);
  const replay = replayed(context, envelope, commit.localSeq, hash);
  if (replay !== undefined) return { result: { seq: replay.seq }, commit: undefined };
  const { branch } = commit;
  const accepted = engine.transact(
    (tx) => admitAuthored(tx, acl.current(), { space, commit, envelope, hash }),
    branch === undefined ? {} : { branch },
  );
  // Feed and frames are of the main branch; a commit to another one is told to nobody.
  const main = branch === undefined || branch === MAIN_BRANCH;
  return { result: { seq: accepted.seq }, commit: main ? accepted : undefined };
}

/** One event append, likewise. */
export function appendRequest(
  context: AdmissionContext,
  append: AppendRequest,
  envelope: Envelope,
): Admitted<AppendResult> {
  const { engine, acl, space } = context;
  const hash = bodyHash("append", append);
  const replay = replayed(context, envelope, append.localSeq, hash);
  if (replay !== undefined) {
    const { seq, index } = replay;
    return { result: { seq, index: index ?? 0, replayed: true }, commit: undefined };
  }
  const { commit, entry } = engine.transact((tx) =>
    admitEvent(tx, acl.current(), { space, append, envelope, hash }),
  );
  return { result: { seq: entry.seq, index: entry.index, replayed: false }, commit };
}

/** The beginning of a space, once its signature was checked. */
export function genesisRequest(
  context: AdmissionContext,
  request: GenesisRequest,
  envelope: Envelope,
): Admitted<{ readonly seq: Seq }> {
  const { seq, commit } = commitGenesis(context.engine, request, envelope.session);
  return { result: { seq }, commit };
}

/** Kind and body of a request as one hash: an append never replays a commit. */
function bodyHash(kind: string, body: object): string {
  return digest("sha256", `${kind}${JSON.stringify(body)}`, "base64url");
}

function replayed(
  context: AdmissionContext,
  envelope: Envelope,
  localSeq: LocalSeq,
  hash: string,
): ReplayVerdict | undefined {
  const verdict = context.engine.replay(replayKeyOf(envelope, localSeq));
  if (verdict === undefined) return undefined;
  if (verdict.hash === hash) {
    context.onReplay();
    return verdict;
  }
  throw new ProtocolError(
    `local number ${localSeq} of session ${envelope.session} was accepted at seq ${verdict.seq} ` +
      `with another body; give a new request a new number`,
    { path: ["localSeq"] },
  );
}
