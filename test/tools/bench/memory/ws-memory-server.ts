/*
 * Runs bare `ws`, which stores its clients to send to them. With an argument, it accepts
 * `permessage-deflate` with the parameters that the gateway negotiates: no context takeover, and
 * windows of that many bits.
 */
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { serveHeld } from "./memory-control.ts";

const [bits] = process.argv.slice(2);
const perMessageDeflate = bits !== undefined && {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  clientMaxWindowBits: Number(bits),
  zlibInflateOptions: { chunkSize: 4_096 },
};
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4_096, perMessageDeflate });
server.on("connection", (socket) => {
  socket.on("message", () => {});
  socket.on("error", () => {});
});
server.on("listening", () => serveHeld((server.address() as AddressInfo).port));
