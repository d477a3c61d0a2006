/* Bun, with uWebSockets inside: a topic that all follow, and a publish for each text. Run by Bun. */
import { serveBroadcast } from "./broadcast.ts";

/** What is used of it. */
interface BunRuntime {
  serve(options: object): BunServer;
}
interface BunServer {
  readonly port: number;
  upgrade(request: Request): boolean;
  publish(topic: string, text: string, compress: boolean): number;
  subscriberCount(topic: string): number;
}
interface BunSocket {
  subscribe(topic: string): void;
}

const { Bun }: { Bun: BunRuntime } = globalThis as never;
const deflate = process.argv.includes("--deflate");
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request: Request, server: BunServer) =>
    server.upgrade(request) ? undefined : new Response("upgrade, please", { status: 426 }),
  websocket: {
    idleTimeout: 960,
    perMessageDeflate: deflate,
    open: (socket: BunSocket) => socket.subscribe("all"),
    message: () => {},
  },
});
await serveBroadcast(server.port, (texts) => {
  for (const text of texts) server.publish("all", text, deflate);
  return server.subscriberCount("all");
});
