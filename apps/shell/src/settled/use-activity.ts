import type { Client, Space } from "@tidemark/client";
import { useEffect, useState } from "preact/hooks";
import { type Activity, sameActivity } from "./settled-words.js";

/** What is under way, looked at once a painted frame while anything is, and at every sign of something new. */
export function useActivity(client: Client, space: Space): Activity {
  const [activity, setActivity] = useState(() => read(client, space));
  useEffect(() => {
    let pending = 0;
    const look = (): void => {
      pending = 0;
      const now = read(client, space);
      setActivity((before) => (sameActivity(before, now) ? before : now));
      // What is queued offline moves only when the connection does.
      if (now.busy || (now.online && now.outstanding + now.queued > 0)) wake();
    };
    const wake = (): void => {
      if (pending === 0) pending = requestAnimationFrame(look);
    };
    const ends = [
      client.status.subscribe(wake),
      space.state.subscribe(wake),
      client.onFrame(wake),
      onActed(wake),
    ];
    return () => {
      cancelAnimationFrame(pending);
      for (const end of ends) end();
    };
  }, [client, space]);
  return activity;
}

const ACTED = "tidemark:acted";

/** Tells the indicators of this tab that something was just done in it. */
export function acted(): void {
  dispatchEvent(new Event(ACTED));
}

function onActed(fn: () => void): () => void {
  addEventListener(ACTED, fn);
  return () => removeEventListener(ACTED, fn);
}

function read(client: Client, space: Space): Activity {
  return {
    online: client.status.value.state === "online",
    queued: space.queued,
    outstanding: space.outstanding,
    busy: client.busy,
  };
}
