import type { Generated } from "kysely";

/**
 * The tables, as Kysely sees them. Storage format:
 *
 * - `pos` is `seq * 2^20 + index within the commit`: one integer that keeps (seq, index) as the
 *   row's own key, so rows arrive at the end of their table and the feed is a range of it.
 * - documents, streams and actors are interned: an id is stored once, rows carry its number.
 * - branch 0 is `main`.
 */
export interface Tables {
  readonly store_meta: { key: string; value: string };
  readonly document: { no: number; id: string; scope_key: string };
  readonly actor: { no: Generated<number>; principal: string; session: string; holder: string };
  readonly commit: {
    seq: number;
    branch: number;
    class: number;
    at: number;
    actor: number | null;
    local_seq: number | null;
    derived_through: number | null;
    watermark: number | null;
    detail: string | null;
  };
  readonly revision: {
    pos: number;
    branch: number;
    document: number;
    kind: number;
    class: number;
    actor: number | null;
    data: string | null;
  };
  readonly receipt: { pos: number; id: string; actor: number | null; data: string };
  readonly head: { branch: number; document: number; pos: number };
  readonly snapshot: {
    no: Generated<number>;
    branch: number;
    document: number;
    pos: number;
    data: string;
  };
  readonly branch: {
    no: Generated<number>;
    name: string;
    parent: number | null;
    at_seq: number;
    created_at: number;
  };
  readonly stream: { no: Generated<number>; id: string; frontier: number };
  readonly stream_entry: {
    pos: number;
    stream: number;
    event_id: string;
    payload: string | null;
    actor: number;
    client_seq: number | null;
    appended_at: number;
    consequenced: number;
    status: string | null;
    outcome: string | null;
    extra: string | null;
  };
  readonly replay: {
    open: number;
    local_seq: number;
    seq: number;
    entry_index: number | null;
    hash: string;
  };
  readonly session_open: {
    no: Generated<number>;
    principal: string;
    session: string;
    nonce: string;
  };
  readonly execution_lease: { space: string; holder: string; expires_at: number };
  readonly scheduler_basis: {
    branch: string;
    action: string;
    action_scope_key: string;
    entity_space: string;
    entity: string;
    entity_scope_key: string;
    seq: number;
  };
  readonly piece_node: { node: string; piece: string };
  readonly extension: { name: string; version: number };
}

/** Changes of one commit, and its entries, at most. */
export const POS_STRIDE = 1_048_576;

export const MAIN_BRANCH_NO = 0;

/** `revision.kind`. */
export const KIND = { set: 0, patch: 1, delete: 2 } as const;

export function posOf(seq: number, index: number): number {
  return seq * POS_STRIDE + index;
}

export function seqOfPos(pos: number): number {
  return Math.floor(pos / POS_STRIDE);
}

export function indexOfPos(pos: number): number {
  return pos % POS_STRIDE;
}

/** The last position that belongs to `seq`. */
export function lastPosOf(seq: number): number {
  return (seq + 1) * POS_STRIDE - 1;
}
