import { ed25519 } from "@noble/curves/ed25519.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base58, base64urlnopad } from "@scure/base";
import { ProtocolError } from "../errors/refusals.js";
import { isPrincipal } from "../ids/ids.js";
import type { Principal } from "../ids/ids.js";

/** A key pair: its `did:key` and the means to sign. The seed is the secret; it never travels. */
export interface Identity {
  readonly did: Principal;
  /** Signs bytes, or text as UTF-8; 86 characters of base64url. */
  sign(message: Uint8Array | string): string;
  /** The 32 secret bytes. */
  readonly seed: Uint8Array;
}

const PREFIX = "did:key:z";
const MULTICODEC_ED25519 = Uint8Array.of(0xed, 0x01);
const KEY_LENGTH = 32;
const SIGNATURE_LENGTH = 64;

/** A new identity from 32 random bytes. */
export function generateIdentity(random: { bytes(count: number): Uint8Array }): Identity {
  return identityFromSeed(random.bytes(KEY_LENGTH));
}

/** The identity of a seed: the same seed, the same DID. @throws ProtocolError unless 32 bytes. */
export function identityFromSeed(seed: Uint8Array): Identity {
  if (seed.length !== KEY_LENGTH) {
    throw new ProtocolError(`An Ed25519 seed has ${KEY_LENGTH} bytes, not ${seed.length}.`);
  }
  const secret = seed.slice();
  const did = didOf(ed25519.getPublicKey(secret));
  const identity: Identity = {
    did,
    sign: (message) => base64urlnopad.encode(ed25519.sign(bytesOf(message), secret)),
    get seed() {
      return secret.slice();
    },
  };
  // Not enumerable: an identity that is logged or turned into JSON does not show its secret.
  Object.defineProperty(identity, "seed", { enumerable: false });
  return identity;
}

/** The public key of a `did:key`, undefined for anything but a well-formed Ed25519 one. */
export function publicKeyOf(did: string): Uint8Array | undefined {
  if (!isPrincipal(did)) return undefined;
  const decoded = base58.decode(did.slice(PREFIX.length));
  const prefixed = decoded[0] === MULTICODEC_ED25519[0] && decoded[1] === MULTICODEC_ED25519[1];
  return prefixed && decoded.length === KEY_LENGTH + 2 ? decoded.slice(2) : undefined;
}

/** True when `signature` is `did`'s over `message`. Bad input of any kind is false, never a throw. */
export function verifySignature(
  did: string,
  message: Uint8Array | string,
  signature: string,
): boolean {
  try {
    const key = publicKeyOf(did);
    const bytes = base64urlnopad.decode(signature);
    if (key === undefined || bytes.length !== SIGNATURE_LENGTH) return false;
    // Strict RFC 8032: with ZIP-215 rules a small-order key would accept any message.
    return ed25519.verify(bytes, bytesOf(message), key, { zip215: false });
  } catch {
    return false;
  }
}

function didOf(publicKey: Uint8Array): Principal {
  return `${PREFIX}${base58.encode(concatBytes(MULTICODEC_ED25519, publicKey))}` as Principal;
}

function bytesOf(message: Uint8Array | string): Uint8Array {
  return typeof message === "string" ? utf8ToBytes(message) : message;
}
