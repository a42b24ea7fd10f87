import { seededRandom } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { becomeMyselfAgain, becomeSomeoneElse, tabIdentity } from "../src/identity/keys.js";
import { isPrincipalText, personOf } from "../src/identity/person.js";
import { tabSession, type TabLocks } from "../src/identity/tab-session.js";

function memoryStore(entries: readonly (readonly [string, string])[] = []) {
  const map = new Map(entries);
  return {
    map,
    getItem: (name: string) => map.get(name) ?? null,
    setItem: (name: string, value: string) => void map.set(name, value),
    removeItem: (name: string) => void map.delete(name),
  };
}

/** The locks of one browser, held for the life of the test. */
function memoryLocks(): TabLocks {
  const held = new Set<string>();
  return {
    async request(name, _options, callback) {
      const free = !held.has(name);
      if (free) held.add(name);
      await callback(free ? {} : null);
    },
  };
}

const random = seededRandom(7);

test("a browser keeps its person, a tab can be another one and come back", () => {
  const stores = { browser: memoryStore(), tab: memoryStore() };
  const mine = tabIdentity(stores, random);
  expect(mine.onlyThisTab).toBe(false);
  expect(tabIdentity(stores, random).identity.did).toBe(mine.identity.did);
  becomeSomeoneElse(stores, random);
  const other = tabIdentity(stores, random);
  expect(other.onlyThisTab).toBe(true);
  expect(other.identity.did).not.toBe(mine.identity.did);
  expect(tabIdentity({ ...stores, tab: memoryStore() }, random).identity.did).toBe(
    mine.identity.did,
  );
  becomeMyselfAgain(stores);
  expect(tabIdentity(stores, random).identity.did).toBe(mine.identity.did);
});

test("a kept key that is none is replaced", () => {
  const browser = memoryStore([["tidemark.key", "not a key"]]);
  const { identity } = tabIdentity({ browser, tab: memoryStore() }, random);
  expect(identity.did).toMatch(/^did:key:/u);
  expect(browser.map.get("tidemark.key")).toMatch(/^[0-9a-f]{64}$/u);
});

test("a reload keeps the session, a duplicated tab mints its own (SY-05)", async () => {
  const store = memoryStore();
  const first = await tabSession(store, memoryLocks(), random);
  expect(await tabSession(store, memoryLocks(), random)).toBe(first);
  const locks = memoryLocks();
  const holder = await tabSession(store, locks, random);
  const copy = memoryStore([...store.map]);
  const second = await tabSession(copy, locks, random);
  expect(holder).toBe(first);
  expect(second).not.toBe(first);
  expect(copy.map.get("tidemark.session")).toBe(second);
});

test("without locks the session is kept, and one that is no session id is replaced", async () => {
  const store = memoryStore([["tidemark.session", "no id: spaces"]]);
  const session = await tabSession(store, undefined, random);
  expect(session).toMatch(/^tab-[0-9a-f]{24}$/u);
  expect(await tabSession(store, undefined, random)).toBe(session);
});

test("everybody shows a person alike, and people unlike each other", () => {
  const people = Array.from({ length: 50 }, () => {
    const stores = { browser: memoryStore(), tab: memoryStore() };
    return tabIdentity(stores, random).identity.did;
  });
  expect(personOf(people[0] ?? "")).toEqual(personOf(people[0] ?? ""));
  expect(new Set(people.map((did) => personOf(did).name)).size).toBeGreaterThan(40);
  expect(people.every(isPrincipalText)).toBe(true);
  expect(isPrincipalText("did:key:short")).toBe(false);
});
