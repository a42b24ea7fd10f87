import { systemClock } from "@tidemark/protocol";

/** A turn of the real event loop: sockets need one. */
export function realTurn(): Promise<void> {
  return new Promise((resolve) => void systemClock.immediate(resolve));
}
