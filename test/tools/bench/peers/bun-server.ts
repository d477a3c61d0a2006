/*
 * Runs Bun, which contains uWebSockets: one topic for all clients, and a publish per text. Run by
 * Bun.
 */
import { serveBroadcast } from "./broadcast.ts";

/** The used part of Bun. */
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

/** Its number on Linux. */
const CLOCK_MONOTONIC = 1;

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

/**
 * Returns the clock that all processes of the machine share, because Bun's `hrtime` begins with its
 * process.
 */
async function systemClockNs(): Promise<() => bigint> {
  const { dlopen, FFIType } = await import(String("bun:ffi"));
  const { symbols } = dlopen("libc.so.6", {
    clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  });
  const time = new BigInt64Array(2);
  return () => {
    symbols.clock_gettime(CLOCK_MONOTONIC, time);
    const [seconds = 0n, nanoseconds = 0n] = time;
    return seconds * 1_000_000_000n + nanoseconds;
  };
}

await serveBroadcast(
  server.port,
  (texts) => {
    for (const text of texts) server.publish("all", text, deflate);
    return server.subscriberCount("all");
  },
  await systemClockNs(),
);
