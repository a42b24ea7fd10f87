import { base58, base64urlnopad } from "@scure/base";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  generateIdentity,
  identityFromSeed,
  isPrincipal,
  ProtocolError,
  publicKeyOf,
  verifySignature,
} from "../../src/index.js";

const ana = identityFromSeed(new Uint8Array(32).fill(1));
const ben = identityFromSeed(new Uint8Array(32).fill(2));

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

describe("identities", () => {
  test("[PR-D1] a seed gives the key pair of RFC 8032 and its did:key", () => {
    // Test 1 of RFC 8032 §7.1.
    const seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    const key = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    const identity = identityFromSeed(seed);
    expect(publicKeyOf(identity.did)).toEqual(key);
    const signature = hex(
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    );
    expect(identity.sign("")).toBe(base64urlnopad.encode(signature));
    expect(verifySignature(identity.did, "", identity.sign(""))).toBe(true);
  });

  test("[PR-D1] every seed's DID is a well-formed principal", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
        const { did } = identityFromSeed(seed);
        expect(isPrincipal(did)).toBe(true);
        expect(publicKeyOf(did)).toHaveLength(32);
      }),
      { numRuns: 20 },
    );
  });

  test("[PR-D1] a seed of another length is refused", () => {
    expect(() => identityFromSeed(new Uint8Array(31))).toThrow(ProtocolError);
  });

  test("[PR-D2] an identity is made of 32 bytes of the given chance and can be restored", () => {
    const asked: number[] = [];
    const identity = generateIdentity({
      bytes: (count) => {
        asked.push(count);
        return new Uint8Array(count).fill(7);
      },
    });
    expect(asked).toEqual([32]);
    expect(identityFromSeed(identity.seed).did).toBe(identity.did);
  });

  test("[PR-D2] the seed shows in no JSON and cannot be changed from outside", () => {
    expect(JSON.stringify(ana)).toBe(JSON.stringify({ did: ana.did }));
    expect({ ...ana }).not.toHaveProperty("seed");
    ana.seed.fill(0);
    expect(ana.seed[0]).toBe(1);
  });
});

describe("verifySignature", () => {
  test("[PR-D3] a signature holds for its message and its principal alone", () => {
    const signature = ana.sign("hello é");
    expect(verifySignature(ana.did, "hello é", signature)).toBe(true);
    expect(verifySignature(ana.did, new TextEncoder().encode("hello é"), signature)).toBe(true);
    expect(verifySignature(ana.did, "hello e\u0301", signature)).toBe(false);
    expect(verifySignature(ben.did, "hello é", signature)).toBe(false);
  });

  test("[PR-D3] bad input of any kind is false and never throws", () => {
    const signature = ana.sign("m");
    const dids = ["", "did:key:z", "__proto__", ana.did.slice(0, -1), `${ana.did.slice(0, -1)}0`];
    for (const did of dids) expect(verifySignature(did, "m", signature)).toBe(false);
    const signatures = ["", "!", signature.slice(1), `${signature}AA`, `${signature}=`];
    for (const bad of signatures) expect(verifySignature(ana.did, "m", bad)).toBe(false);
    expect(verifySignature(null as never, "m", signature)).toBe(false);
    expect(verifySignature(ana.did, "m", 7 as never)).toBe(false);
  });

  test("[PR-D3] a principal whose key is a point of small order signs nothing", () => {
    // The neutral element: by lax rules R = neutral, S = 0 verifies for every message.
    const neutral = new Uint8Array(32);
    neutral[0] = 1;
    const did = `did:key:z${base58.encode(Uint8Array.of(0xed, 0x01, ...neutral))}`;
    expect(isPrincipal(did)).toBe(true);
    const forged = `AQ${"A".repeat(84)}`;
    expect(verifySignature(did, "anything", forged)).toBe(false);
  });
});
