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
    if (action.includes("[") || !isOfPresentPattern(engine, action)) continue;
    for (const { space, id, scopeKey: instance, seq } of engine.basis.reads(action, scopeKey)) {
      if (space !== engine.space || id.startsWith("piece:")) continue;
      const later = engine.history(id, instance, { after: seq });
      const first = later.find((revision) => isChange(engine, id, revision));
      if (first === undefined || isBack(engine, id, seq)) continue;
      ahead.push({ action, seq: first.seq });
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

/** A piece that was pointed at another pattern leaves rows behind, of nodes that are no more (R7). */
function isOfPresentPattern(engine: Engine, action: ActionId): boolean {
  const [, pattern, piece = ""] = /^(.*)\/[^/]*@(.*)$/u.exec(action) ?? [];
  const { value } = engine.read(piece as DocId, SPACE_SCOPE_KEY);
  const pointer = (value as { readonly pattern?: { readonly id?: string } } | undefined)?.pattern;
  return pointer?.id === pattern;
}
