import { isSessionId, type Random, type SessionId } from "@tidemark/protocol";
import type { KeyStore } from "./keys.js";

/** The part of the browser's lock manager that is used; absent outside secure contexts. */
export interface TabLocks {
  request(
    name: string,
    options: { readonly ifAvailable: true },
    callback: (lock: unknown) => Promise<void> | undefined,
  ): Promise<unknown>;
}

const NAME = "tidemark.session";

/**
 * The session id of this tab, kept over reloads. A duplicated tab starts with a copy of the first one's storage: it
 * finds the id in use and mints its own (field fault SY-05). Where the browser has no locks, the server notices and
 * has the older tab mint one.
 */
export async function tabSession(
  store: KeyStore,
  locks: TabLocks | undefined,
  random: Random,
): Promise<SessionId> {
  const kept = store.getItem(NAME);
  if (kept !== null && isSessionId(kept) && (await hold(locks, kept))) return kept;
  const minted = mintSession(random);
  store.setItem(NAME, minted);
  await hold(locks, minted);
  return minted;
}

/** Remembers the id that the client took after another tab had taken the former one over. */
export function keepSession(store: KeyStore, session: SessionId): void {
  if (store.getItem(NAME) !== session) store.setItem(NAME, session);
}

/** Holds the id for the life of the tab; false where another tab holds it. */
function hold(locks: TabLocks | undefined, session: SessionId): Promise<boolean> {
  if (locks === undefined) return Promise.resolve(true);
  return new Promise((resolve) => {
    void locks.request(`tidemark.session.${session}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      // Never resolves: the browser lets go of it when the tab ends.
      return lock === null ? undefined : new Promise(() => undefined);
    });
  });
}

function mintSession(random: Random): SessionId {
  const hex = [...random.bytes(12)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `tab-${hex.join("")}` as SessionId;
}
