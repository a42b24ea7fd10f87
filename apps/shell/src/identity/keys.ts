import { type Identity, identityFromSeed, type Random } from "@tidemark/protocol";

/** What of a browser's storage is used. */
export interface KeyStore {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** Where keys are: the browser's own person, and the one that this tab alone is. */
export interface KeyStores {
  readonly browser: KeyStore;
  readonly tab: KeyStore;
}

/** Who acts in this tab. */
export interface TabIdentity {
  readonly identity: Identity;
  /** Somebody else than this browser's own person. */
  readonly onlyThisTab: boolean;
}

const NAME = "tidemark.key";
const SEED_BYTES = 32;
const SEED = /^[0-9a-f]{64}$/u;

/** The person of this tab; on a browser's first visit a key is made, and it never leaves the browser. */
export function tabIdentity(stores: KeyStores, random: Random): TabIdentity {
  const other = stores.tab.getItem(NAME);
  if (other !== null && SEED.test(other)) return { identity: fromHex(other), onlyThisTab: true };
  const own = stores.browser.getItem(NAME);
  if (own !== null && SEED.test(own)) return { identity: fromHex(own), onlyThisTab: false };
  return { identity: fromHex(mint(stores.browser, random)), onlyThisTab: false };
}

/** From the next look on, this tab acts as somebody new. */
export function becomeSomeoneElse(stores: KeyStores, random: Random): void {
  mint(stores.tab, random);
}

/** From the next look on, this tab acts as the browser's own person again. */
export function becomeMyselfAgain(stores: KeyStores): void {
  stores.tab.removeItem(NAME);
}

function mint(store: KeyStore, random: Random): string {
  const hex = [...random.bytes(SEED_BYTES)].map((byte) => byte.toString(16).padStart(2, "0"));
  const seed = hex.join("");
  store.setItem(NAME, seed);
  return seed;
}

function fromHex(hex: string): Identity {
  const bytes = hex.match(/../gu)?.map((pair) => Number.parseInt(pair, 16)) ?? [];
  return identityFromSeed(Uint8Array.from(bytes));
}
