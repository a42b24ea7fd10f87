import { useEffect } from "preact/hooks";
import { useObservable } from "../live/use-live.js";
import { NO_DEMO, NO_SERVER } from "../words/error-words.js";
import { Notice } from "./notice.js";
import { pieceHref } from "./route.js";
import { useTab } from "./tab.js";
import { Waiting } from "./waiting.js";

/** Leads on to the server's demo. */
export function HomePage() {
  const { client, meta } = useTab();
  const { state } = useObservable(client.status);
  const demo = meta?.demo;
  useEffect(() => {
    // Replaced, so that going back does not end up here again.
    if (demo) location.replace(pieceHref(demo.space, demo.piece));
  }, [demo]);
  if (meta !== undefined && !demo) return <Notice trouble={NO_DEMO} />;
  if (meta === undefined && state === "waiting") return <Notice trouble={NO_SERVER} />;
  return <Waiting words="Looking for the server…" />;
}
