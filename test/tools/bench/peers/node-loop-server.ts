/*
 * The floor for a server in Node with its public API: `ws` for the handshake, then one
 * `socket.write` per batch and client, with frames that are built before.
 */
import type { AddressInfo, Socket } from "node:net";
import { WebSocketServer } from "ws";
import { websocketFraming } from "../../../../src/gateway/hub/index.ts";
import { openControl, sayReady } from "../harness/control-port.ts";
import { messageText, type UniformLoad, uniformEvents } from "../harness/uniform-events.ts";

const sockets = new Set<Socket>();
let frames = Buffer.alloc(0);
let events = 0;

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4_096 });
server.on("connection", (_, { socket }) => {
  sockets.add(socket);
  socket.on("close", () => sockets.delete(socket));
});
server.on("listening", async () => {
  const control = await openControl({
    publish() {
      for (const socket of sockets) socket.write(frames);
      return sockets.size * events;
    },
    configure(order) {
      const load = order as UniformLoad;
      const texts = uniformEvents(load.events, load.bytes).map(messageText);
      frames = Buffer.concat(texts.map((text) => websocketFraming.message(text)));
      events = texts.length;
    },
  });
  sayReady((server.address() as AddressInfo).port, control);
});
