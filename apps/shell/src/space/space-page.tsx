import type { DocId, SpaceId } from "@tidemark/protocol";
import { useMemo, useRef } from "preact/hooks";
import { Notice } from "../app/notice.js";
import { useTab } from "../app/tab.js";
import { Waiting } from "../app/waiting.js";
import { StatusBar } from "../connection/status-bar.js";
import { useObservable } from "../live/use-live.js";
import { PiecePage } from "../piece/piece-page.js";
import { NO_SERVER, spaceTrouble } from "../words/error-words.js";
import { AccessForm } from "./access-form.js";
import { AccessHint } from "./access-hint.js";
import { PieceList } from "./piece-list.js";

/** A space, or one piece of it. What was seen once stays while the server is gone. */
export function SpacePage(props: { readonly id: SpaceId; readonly piece: DocId | undefined }) {
  const { client } = useTab();
  const space = useMemo(() => client.open(props.id), [client, props.id]);
  const state = useObservable(space.state);
  const connection = useObservable(client.status).state;
  const wasOpen = useRef(false);
  if (state.state === "open") wasOpen.current = true;
  const trouble = spaceTrouble(state, wasOpen.current);
  if (trouble !== undefined) return <Notice trouble={trouble} />;
  if (!wasOpen.current) {
    return connection === "waiting" ? (
      <Notice trouble={NO_SERVER} />
    ) : (
      <Waiting words="Opening the space…" />
    );
  }
  return (
    <>
      <StatusBar space={space} />
      <AccessHint space={space} />
      {props.piece === undefined ? (
        <>
          <PieceList space={space} />
          <AccessForm space={space} />
        </>
      ) : (
        <PiecePage key={props.piece} space={space} id={props.piece} />
      )}
    </>
  );
}
