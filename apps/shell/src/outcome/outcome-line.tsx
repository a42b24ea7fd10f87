import type { FiredEvent } from "@tidemark/client";
import { useEffect, useState } from "preact/hooks";
import { useTab } from "../app/tab.js";
import { useObservable } from "../live/use-live.js";
import { outcomeLine, type Progress } from "./outcome-words.js";

/** What became of the last thing that was done with a form or a button. */
export function OutcomeLine(props: {
  readonly event: FiredEvent | undefined;
  /** Something else asks for attention: only what went wrong is said beside it. */
  readonly troubleOnly?: boolean;
}) {
  const { client } = useTab();
  const online = useObservable(client.status).state === "online";
  const progress = useProgress(props.event);
  const known = progress === undefined ? undefined : outcomeLine(progress, online);
  const line = props.troubleOnly === true && known?.tone !== "bad" ? undefined : known;
  return (
    <p class={`outcome outcome-${line?.tone ?? "good"}`} role="status" aria-live="polite">
      {line?.text}
    </p>
  );
}

function useProgress(event: FiredEvent | undefined): Progress | undefined {
  const [known, setKnown] = useState<{ readonly of: FiredEvent; readonly progress: Progress }>();
  useEffect(() => {
    if (event === undefined) return undefined;
    let current = true;
    const tell = (progress: Progress): void => {
      if (current) setKnown({ of: event, progress });
    };
    tell(event.outcome ?? { kind: "sending" });
    event.appended.then(
      () => event.outcome === undefined && tell({ kind: "appended" }),
      () => undefined,
    );
    void event.settled.then(tell);
    return () => {
      current = false;
    };
  }, [event]);
  return known !== undefined && known.of === event ? known.progress : undefined;
}
