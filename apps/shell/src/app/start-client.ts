import { type Client, connect } from "@tidemark/client";
import { samplePatterns } from "@tidemark/patterns";
import { systemClock, systemRandom, webSocketTransport } from "@tidemark/protocol";
import type { Identity, SessionId } from "@tidemark/protocol";

/** Connects to the server that the page came from. */
export function startClient(identity: Identity, sessionId: SessionId): Client {
  return connect({
    transport: webSocketTransport(() => new WebSocket(socketUrl(location))),
    identity,
    sessionId,
    clock: systemClock,
    random: systemRandom,
    patterns: samplePatterns,
    onError: (error) => console.error(error),
  });
}

/** Where the protocol is spoken, from where the page is. */
export function socketUrl(page: { readonly protocol: string; readonly host: string }): string {
  const scheme = page.protocol === "https:" ? "wss" : "ws";
  return `${scheme}://${page.host}/api/storage/memory`;
}
