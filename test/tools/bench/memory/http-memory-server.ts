/* Runs plain node:http with responses that do not end, to measure an open response. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serveHeld } from "./memory-control.ts";

const server = createServer((_request, response) => {
  response.writeHead(200, ["content-type", "text/event-stream", "connection", "close"]);
  response.write(":\n\n");
});
server.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 }, () =>
  serveHeld((server.address() as AddressInfo).port),
);
