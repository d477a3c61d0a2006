/* Runs socket.io with a broadcast. The argument is the directory of its package. */
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { serveBroadcast } from "./broadcast.ts";

/** The used part of socket.io. */
interface SocketIo {
  readonly Server: new (
    server: ReturnType<typeof createServer>,
    options: object,
  ) => { emit(name: string, text: string): void; readonly engine: { readonly clientsCount: number } };
}

const [, , installed = ""] = process.argv;
const { Server }: SocketIo = createRequire(`${installed}/`)("socket.io");
const http = createServer();
// Its own pings are off, because no peer's pings are measured.
const io = new Server(http, { transports: ["websocket"], serveClient: false, pingInterval: 600_000 });
http.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 }, () =>
  serveBroadcast((http.address() as AddressInfo).port, (texts) => {
    for (const text of texts) io.emit("event", text);
    return io.engine.clientsCount;
  }),
);
