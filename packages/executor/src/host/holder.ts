import { holderId, type HolderId, type Random } from "@tidemark/protocol";

/**
 * The identity of one process as a lease holder: the service, and a part minted at process start that
 * is stable over every renewal and fresh for every new process (seed 001 §2, DR1).
 */
export function holderOf(service: string, random: Random): HolderId {
  const part = [...random.bytes(12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return holderId(`${service}/${part}`);
}
