/** Chance as a parameter (architecture.md, "Seams"). */
export interface Random {
  /** `n` fresh bytes. */
  bytes(n: number): Uint8Array;
  /** A number in [0, 1). */
  next(): number;
}

interface CryptoLike {
  getRandomValues(into: Uint8Array): Uint8Array;
}

/** `getRandomValues` refuses to fill more than this at once. */
const MAX_FILL_BYTES = 65_536;

function systemBytes(n: number): Uint8Array {
  const { crypto } = globalThis as unknown as { readonly crypto: CryptoLike };
  const out = new Uint8Array(n);
  for (let at = 0; at < n; at += MAX_FILL_BYTES) {
    crypto.getRandomValues(out.subarray(at, Math.min(n, at + MAX_FILL_BYTES)));
  }
  return out;
}

/** 53 bits of a generator's 32-bit words as a fraction, so that every double of [0, 1) is as likely. */
function fraction(high: number, low: number): number {
  return ((high >>> 5) * 0x4000000 + (low >>> 6)) / 0x20000000000000;
}

/** Chance from the host's cryptographic source (`globalThis.crypto`). */
export const systemRandom: Random = {
  bytes: systemBytes,
  next() {
    const words = new DataView(systemBytes(8).buffer);
    return fraction(words.getUint32(0), words.getUint32(4));
  },
};

/** Spreads a small seed over the 128 bits of state (splitmix32), so that seeds 1 and 2 share nothing. */
function seedWords(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let word = state;
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return (word ^ (word >>> 15)) >>> 0;
  };
}

/**
 * Repeatable chance for tests and simulations (sfc32): the same seed gives the same sequence on every
 * host. Not for keys or ids of a real deployment.
 */
export function seededRandom(seed: number): Random {
  const init = seedWords(Math.trunc(seed));
  let [a, b, c, counter] = [init(), init(), init(), 1];
  const word = (): number => {
    const sum = (a + b + counter) >>> 0;
    counter = (counter + 1) >>> 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) >>> 0;
    c = (((c << 21) | (c >>> 11)) + sum) >>> 0;
    return sum;
  };
  return {
    bytes(n) {
      const out = new Uint8Array(n);
      for (let at = 0; at < n; at += 1) out[at] = word() >>> 24;
      return out;
    },
    next: () => fraction(word(), word()),
  };
}
