import type { Engine, Revision } from "@tidemark/memory-engine";
import {
  type ActionId,
  type DocId,
  jsonEqual,
  type JsonValue,
  type Seq,
  SPACE_SCOPE_KEY,
} from "@tidemark/protocol";
import { readable } from "./answers.js";

/** A change that a derivation of the store has not taken in. */
export interface Behind {
  readonly action: ActionId;
  readonly seq: Seq;
}

/**
 * Changes that stand ahead of what derivations have recorded as read, as the basis index tells it (seed 001 §3b): the
 * lowest for each read. Rows know no paths: a change below the root, or to an equal value, may have been none to the
 * reader, and is left out; so are rows of a list's elements, which live and go with their list.
 */
export function changesAhead(engine: Engine): readonly Behind[] {
  const ahead: Behind[] = [];
  for (const { action, scopeKey } of engine.basis.stale()) {
    const since = action.includes("[") ? undefined : pointedSince(engine, action);
    if (since === undefined) continue;
    for (const { space, id, scopeKey: instance, seq } of engine.basis.reads(action, scopeKey)) {
      if (space !== engine.space || id.startsWith("piece:")) continue;
      const later = engine.history(id, instance, { after: seq });
      const first = later.find((revision) => isChange(engine, id, revision));
      if (first === undefined || isBack(engine, id, seq)) continue;
      ahead.push({ action, seq: first.seq > since ? first.seq : since });
    }
  }
  return ahead;
}

function isChange(engine: Engine, id: DocId, { seq, op }: Revision): boolean {
  const whole = op.op !== "patch" || op.value.some(({ path }) => path.length === 0);
  return whole && !jsonEqual(readAt(engine, id, seq - 1), readAt(engine, id, seq));
}

/** It went and came back before anybody looked: there is nothing to take in. */
function isBack(engine: Engine, id: DocId, read: Seq): boolean {
  return jsonEqual(readAt(engine, id, read), readAt(engine, id, engine.head()));
}

function readAt(engine: Engine, id: DocId, at: number): JsonValue {
  return readable(engine.read(id, SPACE_SCOPE_KEY, { at: at as Seq }).value ?? null);
}

/**
 * The commit that pointed the piece at the action's pattern; `undefined` where it points at another, and the rows are of
 * nodes that are no more (R7). Rows of an earlier time of that pattern have nothing to take in but the pointer.
 */
function pointedSince(engine: Engine, action: ActionId): Seq | undefined {
  const [, pattern, id = ""] = /^(.*)\/[^/]*@(.*)$/u.exec(action) ?? [];
  const piece = id as DocId;
  if (patternOf(engine, piece, engine.head()) !== pattern) return undefined;
  const moves = engine.history(piece, SPACE_SCOPE_KEY, { after: 0 as Seq });
  const since = moves.filter(({ seq }) => patternOf(engine, piece, seq - 1) !== pattern).at(-1);
  return since?.seq ?? (0 as Seq);
}

function patternOf(engine: Engine, piece: DocId, at: number): string | undefined {
  const { value } = engine.read(piece, SPACE_SCOPE_KEY, { at: at as Seq });
  return (value as { readonly pattern?: { readonly id?: string } } | undefined)?.pattern?.id;
}
