import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Identity, identityFromSeed, type Random, StorageError } from "@tidemark/protocol";
import { makeFolder } from "../folder/make-folder.js";

const SEED_BYTES = 32;
const SEED = /^[0-9a-f]{64}\s*$/u;

/**
 * A key kept in a file of the data folder, made on first use and readable by its owner alone. Two processes that start
 * at once keep the one that was written first.
 *
 * @throws StorageError `corrupt` for a file that holds no key; the system's error for one that cannot be read or made.
 */
export function keptIdentity(dataDir: string, name: string, random: Random): Identity {
  const file = join(dataDir, "keys", `${name}.key`);
  makeFolder(dirname(file), 0o700);
  if (!existsSync(file)) writeKey(file, random.bytes(SEED_BYTES));
  const text = readFileSync(file, "utf8");
  if (!SEED.test(text)) {
    throw new StorageError(
      `${file} holds no key: restore it from a copy, or delete it to begin with a new one`,
      { kind: "corrupt" },
    );
  }
  return identityFromSeed(Uint8Array.from(Buffer.from(text.trim(), "hex")));
}

/** A link fails where the name is taken, so a key that somebody read already is never replaced. */
function writeKey(file: string, seed: Uint8Array): void {
  const partial = `${file}.${process.pid}.partial`;
  writeFileSync(partial, `${Buffer.from(seed).toString("hex")}\n`, { mode: 0o600 });
  try {
    linkSync(partial, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(partial, { force: true });
  }
}
