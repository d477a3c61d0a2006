/*
 * Runs plain @fastify/websocket, which sends a text to each client, one by one; with --deflate,
 * compressed.
 */
import type { AddressInfo } from "node:net";
import websocket from "@fastify/websocket";
import Fastify from "fastify";
import type { WebSocket } from "ws";
import { serveBroadcast } from "./broadcast.ts";

const app = Fastify();
const clients = new Set<WebSocket>();
const takeover = { serverNoContextTakeover: true, clientNoContextTakeover: true };
const perMessageDeflate = process.argv.includes("--deflate") && { ...takeover, threshold: 0 };
await app.register(websocket, { options: { perMessageDeflate } });
app.register(async (scope) => {
  scope.get("/", { websocket: true }, (socket) => {
    clients.add(socket);
    socket.on("close", () => clients.delete(socket));
  });
});
await app.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 });
await serveBroadcast((app.server.address() as AddressInfo).port, (texts) => {
  for (const text of texts) for (const client of clients) client.send(text);
  return clients.size;
});
