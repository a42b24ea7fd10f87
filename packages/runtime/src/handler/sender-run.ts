import { getAt, jsonEqual, validateJson, type JsonValue } from "@tidemark/protocol";
import type { RunOutcome } from "@tidemark/scheduler";
import { runDerivation, type DerivationSpec } from "../computed/derivation.js";
import type { SenderNode } from "../pattern/build-scope.js";
import type { RunEnvironment } from "../piece/environment.js";

/** Runs a sender: compares what it sees with what its document says was seen last. */
export function runSender(
  env: RunEnvironment,
  node: SenderNode,
  place: Pick<DerivationSpec, "action" | "label" | "output">,
): RunOutcome {
  const compute = (): JsonValue => {
    const seen = checked(node.when());
    const stored = env.host.view.read(place.output);
    const before = stored.state === "held" ? getAt(stored.value, ["seen"]) : undefined;
    if (before !== undefined && !jsonEqual(before, seen)) node.send(seen as never);
    return { seen };
  };
  return runDerivation(env, { ...place, compute, sends: true });
}

function checked(value: unknown): JsonValue {
  const json = validateJson(value === undefined ? null : value);
  if (!json.ok) throw json.error;
  return json.value;
}
