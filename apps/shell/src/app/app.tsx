import type { SessionId } from "@tidemark/protocol";
import { systemRandom } from "@tidemark/protocol";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  becomeMyselfAgain,
  becomeSomeoneElse,
  type KeyStores,
  tabIdentity,
} from "../identity/keys.js";
import { keepSession } from "../identity/tab-session.js";
import { Page } from "./page.js";
import { startClient } from "./start-client.js";
import { type Tab, TabContext } from "./tab.js";
import { TopBar } from "./top-bar.js";
import { useMeta } from "./use-meta.js";
import { useRoute } from "./use-route.js";

interface AppProps {
  readonly stores: KeyStores;
  readonly sessionId: SessionId;
}

/** The whole page: one person, one connection, and what the address names. */
export function App({ stores, sessionId }: AppProps) {
  const [session, setSession] = useState(() => begin(stores, sessionId));
  const { client, onlyThisTab } = session;
  const change = async (become: () => void): Promise<void> => {
    become();
    await client.close();
    setSession(begin(stores, sessionId));
  };
  useEffect(
    () => client.status.subscribe(() => keepSession(stores.tab, client.whoami.sessionId)),
    [client, stores],
  );
  useEffect(() => dialWhenBack(() => client.reconnect()), [client]);
  const meta = useMeta(client);
  const principal = client.whoami.principal;
  const tab = useMemo((): Tab => ({ client, principal, meta }), [client, principal, meta]);
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  useFocusOnChange(main, route);
  return (
    <TabContext.Provider value={tab}>
      <a class="skip" href="#main" onClick={(event) => skip(event, main.current)}>
        Skip to the content
      </a>
      <TopBar
        onlyThisTab={onlyThisTab}
        onSomeoneElse={() => void change(() => becomeSomeoneElse(stores, systemRandom))}
        onMyself={() => void change(() => becomeMyselfAgain(stores))}
      />
      <main id="main" ref={main} tabIndex={-1}>
        <Page key={principal} route={route} />
      </main>
    </TabContext.Provider>
  );
}

function begin(stores: KeyStores, sessionId: SessionId) {
  const { identity, onlyThisTab } = tabIdentity(stores, systemRandom);
  return { client: startClient(identity, sessionId), onlyThisTab };
}

/** A page that comes to the front, or a network that is back, is no time to sit out a delay. */
function dialWhenBack(dial: () => void): () => void {
  const shown = (): void => {
    if (document.visibilityState === "visible") dial();
  };
  addEventListener("online", dial);
  document.addEventListener("visibilitychange", shown);
  return () => {
    removeEventListener("online", dial);
    document.removeEventListener("visibilitychange", shown);
  };
}

/** The address is the hash, so the browser's own jump is done by hand. */
function skip(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}

/** After a link was followed, reading goes on where the new content begins. */
function useFocusOnChange(main: { readonly current: HTMLElement | null }, route: unknown): void {
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) main.current?.focus({ preventScroll: false });
    first.current = false;
  }, [main, route]);
}
