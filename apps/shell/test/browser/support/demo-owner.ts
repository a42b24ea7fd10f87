import { readFileSync } from "node:fs";
import { join } from "node:path";
import { identityFromSeed } from "@tidemark/protocol";
import type { ToolshedProcess } from "../../../../toolshed/src/testing/index.js";
import { socketsTo, voter } from "../../../../toolshed/test/support/voter.js";

/** Acts as the owner of the demo, whose key lies in the data folder. */
export async function demoOwner(toolshed: ToolshedProcess) {
  const file = join(toolshed.dataDir, "keys", "demo-owner.key");
  const seed = Uint8Array.from(Buffer.from(readFileSync(file, "utf8").trim(), "hex"));
  const identity = identityFromSeed(seed);
  const { client, space } = voter(
    socketsTo(() => toolshed.socketUrl),
    await toolshed.demo(),
    identity,
  );
  return {
    /** What everybody may do; `undefined`: nothing. */
    setAccess: (everybody: "READ" | "WRITE" | undefined) =>
      space.setAcl({
        [identity.did]: "OWNER",
        ...(everybody === undefined ? {} : { "*": everybody }),
      }),
    close: () => client.drop(),
  };
}
