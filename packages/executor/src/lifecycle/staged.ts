import { linkedNodes } from "@tidemark/memory-engine";
import {
  docKind,
  getAt,
  instanceKey,
  SPACE_SCOPE_KEY,
  type DocId,
  type InstanceKey,
  type JsonValue,
} from "@tidemark/protocol";

/**
 * What a verb staged, as warm demand: the piece's document, which loads it, and the documents that its
 * result shows, which derives them (seed 001 §1; decision 29). Streams derive nothing.
 */
export function stagedBy(piece: DocId, value: JsonValue): readonly InstanceKey[] {
  const result = getAt(value, ["result"]);
  const shown = result === undefined ? [] : [...linkedNodes({ result })];
  const nodes = shown.filter((id) => docKind(id) === "node");
  return [piece, ...nodes].map((id) => instanceKey(id, SPACE_SCOPE_KEY));
}
