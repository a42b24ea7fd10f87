import type { Client } from "@tidemark/client";
import { useEffect, useState } from "preact/hooks";
import { useObservable } from "../live/use-live.js";
import { fetchMeta, type Meta } from "../meta/meta.js";

/** What the server says of itself: asked at the start, and again whenever it is reached and has not answered yet. */
export function useMeta(client: Client): Meta | undefined {
  const online = useObservable(client.status).state === "online";
  const [meta, setMeta] = useState<Meta>();
  const known = meta !== undefined;
  useEffect(() => {
    if (known) return undefined;
    let current = true;
    void fetchMeta().then((found) => {
      if (current && found !== undefined) setMeta(found);
    });
    return () => {
      current = false;
    };
  }, [known, online]);
  return meta;
}
