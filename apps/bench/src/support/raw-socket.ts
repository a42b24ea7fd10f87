import { WebSocket } from "ws";

/** An open socket of the `ws` package that hands on text. */
export async function rawSocket(
  url: string,
  onText: (text: string) => void,
): Promise<{ send(text: string): void; close(): void }> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  socket.on("message", (data: Buffer) => onText(data.toString()));
  await new Promise<void>((resolve, reject) => {
    socket.on("open", () => resolve());
    socket.on("error", reject);
  });
  return { send: (text) => socket.send(text), close: () => socket.close() };
}
