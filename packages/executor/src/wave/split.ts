import type { InstanceKey, JsonValue, ValueOperation } from "@tidemark/protocol";
import type { LandingWrite } from "./coalesce.js";
import type { Contribution } from "./contribution.js";

/** Which commit of a wave writes what. */
export interface Splits {
  readonly count: number;
  /** Of what a piece's runs end and append. */
  of(piece: string): number;
  ofKey(key: InstanceKey): number;
}

const WHOLE: Splits = { count: 1, of: () => 0, ofKey: () => 0 };

/** The piece that a contribution's action belongs to; what the loop itself seals belongs to none. */
export function pieceOf({ action }: Pick<Contribution, "action">): string {
  const at = action.lastIndexOf("@");
  return at < 0 ? "" : action.slice(at + 1);
}

/**
 * Splits a wave whose operations exceed `maxBytes`, piece by piece in the order of sealing (seed 001 §3):
 * as many pieces to a commit as fit, and never one piece to two. An instance is where it was first written.
 */
export function splitByPiece(writes: readonly LandingWrite[], maxBytes: number): Splits {
  const sizes = new Map<string, number>();
  const pieces = new Map<InstanceKey, string>();
  let total = 0;
  for (const { key, op, piece } of writes) {
    const bytes = sizeOf(op);
    const owner = pieces.get(key) ?? piece;
    pieces.set(key, owner);
    sizes.set(owner, (sizes.get(owner) ?? 0) + bytes);
    total += bytes;
  }
  if (total <= maxBytes || sizes.size === 1) return WHOLE;
  const split = new Map<string, number>();
  let [at, filled] = [0, 0];
  for (const [piece, bytes] of sizes) {
    if (filled > 0 && filled + bytes > maxBytes) [at, filled] = [at + 1, 0];
    split.set(piece, at);
    filled += bytes;
  }
  const of = (piece: string): number => split.get(piece) ?? 0;
  return { count: at + 1, of, ofKey: (key) => of(pieces.get(key) ?? "") };
}

/** What an operation takes as JSON, roughly and without writing it. */
function sizeOf(op: ValueOperation): number {
  return op.op === "delete" ? FRAME : FRAME + sizeOfJson(op.value as JsonValue);
}

/** What surrounds a value, and what a number or a literal takes. */
const FRAME = 8;

function sizeOfJson(value: JsonValue): number {
  if (typeof value === "string") return value.length + 2;
  if (value === null || typeof value !== "object") return FRAME;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) size += sizeOfJson(item) + 1;
    return size;
  }
  for (const [key, item] of Object.entries(value)) size += key.length + 4 + sizeOfJson(item);
  return size;
}
