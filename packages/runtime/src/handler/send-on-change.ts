import { cellHandle } from "../cell/handle.js";
import type { Computed, Stream } from "../cell/types.js";
import { requireBuild } from "../frame/frame.js";
import { type Source, valueOf } from "../logic/logic.js";

/**
 * A derivation that sends an event when a value changes, under the identity that the demand supplies
 * (seed 000 §2, LT6). The first sight of the value sends nothing; the value last seen is stored, so a
 * restart sends nothing again.
 *
 * @throws FrameError outside a pattern's `build`; PatternError for a missing or repeated name.
 */
export function sendOnChange<T, P>(
  name: string,
  when: Source<T>,
  to: () => Stream<P>,
  payload: (value: T) => P,
): Computed<{ readonly seen: T }> {
  const build = requireBuild("sendOnChange");
  const node = build.add({
    kind: "sender",
    name,
    id: build.nodeId(name),
    when: () => valueOf(when),
    send: (value: T) => to().send(payload(value)),
  });
  return cellHandle(build.ref(node));
}
