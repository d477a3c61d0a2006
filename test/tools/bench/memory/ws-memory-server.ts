/* Runs bare `ws`, which stores its clients to send to them. */
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { serveHeld } from "./memory-control.ts";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4_096 });
server.on("connection", (socket) => {
  socket.on("message", () => {});
  socket.on("error", () => {});
});
server.on("listening", () => serveHeld((server.address() as AddressInfo).port));
