import type { PatternFile } from "./file.js";

/**
 * The node that a handler is in its pattern. In a file a handler may share its name with a cell, a computed or a map; a
 * pattern has one node to a name.
 */
export function handlerNodeName(file: PatternFile, handler: string): string {
  const values = [file.cells, file.computed, file.maps, file.effects, file.sends];
  return values.some((group) => Object.hasOwn(group ?? {}, handler))
    ? `${handler}:handler`
    : handler;
}
