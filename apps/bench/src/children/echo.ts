import { WebSocketServer } from "ws";
import { answer, say } from "./answer.js";

/** The yardstick of a round trip: a `ws` server that passes what one connection sends on to all. */
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("connection", (socket) => {
  socket.on("message", (data) => {
    for (const client of server.clients) client.send(data, { binary: false });
  });
});
server.on("listening", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it has no port");
  say({ socketUrl: `ws://127.0.0.1:${address.port}` });
});
answer(() => void server.close());
