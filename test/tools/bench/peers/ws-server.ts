/* Runs plain `ws`, which sends a text to each client, one by one; with --deflate, compressed. */
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { serveBroadcast } from "./broadcast.ts";

const takeover = { serverNoContextTakeover: true, clientNoContextTakeover: true };
const perMessageDeflate = process.argv.includes("--deflate") && { ...takeover, threshold: 0 };
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4_096, perMessageDeflate });
server.on("listening", () =>
  serveBroadcast((server.address() as AddressInfo).port, (texts) => {
    for (const text of texts) for (const client of server.clients) client.send(text);
    return server.clients.size;
  }),
);
