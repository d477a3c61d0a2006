/* What Node's streams allow at best: each batch's frames built once and joined, and a loop that writes them to the raw socket of each client. No peer, but a mark. */
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { websocketFraming } from "../../../src/hub/index.ts";
import { serveBroadcast } from "./broadcast.ts";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4_096 });
const sockets: Duplex[] = [];
server.on("connection", (_, { socket }) => {
  sockets.push(socket);
  socket.once("close", () => sockets.splice(sockets.indexOf(socket), 1));
});
server.on("listening", () =>
  serveBroadcast((server.address() as AddressInfo).port, (texts) => {
    const frames = Buffer.concat(texts.map((text) => websocketFraming.message(text)));
    for (const socket of sockets) socket.write(frames);
    return sockets.length;
  }),
);
