import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { startNodeServer } from "../harness/bench-server.ts";
import { spreadOf } from "../harness/spread.ts";
import { median, type Row } from "../report.ts";

const FLARE = "4c241101-e2bb-5255-8caf-000000000279";
const TOKEN = "0x9f5a7c0e6c6f0f5d6be1ad7df5ca1d0ee0c6f9ab";
const BASE = "/flares";
/** Requests of each resource per round. */
const REQUESTS = 400;

/** Each resource with the path of its n-th request. */
const RESOURCES: Readonly<Record<string, (n: number, nowMs: number) => string>> = {
  [BASE]: () => "/flares",
  "/candles": () => "/candles",
  "/flares/{id}": () => `/flares/${FLARE}`,
  "/history": () => "/history",
  "/history, never the same": (n, nowMs) => `/history?limit=10&to=${timeOf(nowMs - n)}`,
  "/record": () => "/record?window=30d",
  "/tokens/{group}/{token}, by address": () => `/tokens/bsc/${TOKEN}`,
  "/tokens/{group}/{token}, by symbol": () => "/tokens/exchange/BCC",
  "/flares?at, one minute": (_, nowMs) => `/flares?at=${timeOf(nowMs - 3_600_000)}`,
  "/flares?at, 60 minutes in turn": (n, nowMs) => `/flares?at=${timeOf(nowMs - (10 + (n % 60)) * 60_000)}`,
  "/flares?at, never the same": (n, nowMs) => `/flares?at=${timeOf(nowMs - (70 + (n % 2_700)) * 60_000)}`,
};

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Measures the time from request to complete response. One connection sends one request at a time,
 * the resources in turn, so that other load affects all of them.
 */
export async function benchResources(rounds: number): Promise<Row[]> {
  const server = await startNodeServer(new URL("resources-server.ts", import.meta.url));
  const socket = connect(server.port, "127.0.0.1").setNoDelay(true);
  try {
    await once(socket, "connect");
    const ask = createAsk(socket);
    const nowMs = Date.now();
    const names = Object.keys(RESOURCES);
    const p50s = new Map<string, number[]>(names.map((name) => [name, []]));
    let bytes = new Map<string, number>();
    // The first round compiles the code.
    for (let round = 0; round <= rounds; round += 1) {
      const taken = new Map<string, number[]>(names.map((name) => [name, []]));
      for (let n = 0; n < REQUESTS; n += 1) {
        for (const [name, pathOf] of inTurn(Object.entries(RESOURCES), n)) {
          const path = pathOf(round * REQUESTS + n, nowMs);
          const began = process.hrtime.bigint();
          const length = await ask(`/api/v1${path}`);
          taken.get(name)?.push(Number(process.hrtime.bigint() - began) / 1_000);
          bytes = bytes.set(name, length);
        }
      }
      if (new Set(inTurn(names, round)).size !== names.length)
        throw new Error("not a prime number of resources");
      if (round > 0) for (const [name, values] of taken) p50s.get(name)?.push(median(values));
    }
    return rowsOf(p50s, bytes);
  } finally {
    socket.destroy();
    await server.stop();
  }
}

/** Returns a different order for each `n`, so that each resource follows each other one. */
function inTurn<T>(all: readonly T[], n: number): readonly T[] {
  const stride = 1 + (n % (all.length - 1));
  // All are reached, because their number is prime.
  return all.flatMap((_, at) => all.slice((n + at * stride) % all.length).slice(0, 1));
}

function rowsOf(p50s: ReadonlyMap<string, readonly number[]>, bytes: ReadonlyMap<string, number>): Row[] {
  const base = p50s.get(BASE) ?? [];
  return [...p50s].flatMap(([name, values]): Row[] => {
    const { median: p50, spreadPct } = spreadOf(values);
    const what = `${name}, ${Math.round((bytes.get(name) ?? 0) / 1_000)} kB`;
    const row = { what: `${what}: p50`, value: p50, unit: "µs", aim: `± ${spreadPct.toFixed(0)} %` };
    if (name === BASE) return [row];
    const ratios = values.map((value, round) => value / (base[round] ?? Number.NaN));
    return [row, { what: `${what}: of ${BASE}`, value: spreadOf(ratios).median, unit: "×", aim: "≤ 1.5" }];
  });
}

/** Returns a function that resolves with the length of a body. Throws unless the status is 200. */
function createAsk(socket: Socket): (path: string) => Promise<number> {
  let received: Uint8Array[] = [];
  let size = 0;
  let due = Number.POSITIVE_INFINITY;
  let length = 0;
  let done: PromiseWithResolvers<number> = Promise.withResolvers();
  socket.on("error", (error) => done.reject(error));
  socket.on("data", (bytes: Buffer) => {
    received.push(bytes);
    size += bytes.length;
    if (due === Number.POSITIVE_INFINITY) {
      const head = Buffer.concat(received);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      const text = head.toString("latin1", 0, end);
      if (!text.startsWith("HTTP/1.1 200 ")) return done.reject(new Error(head.toString()));
      length = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
      due = end + 4 + length;
    }
    if (size >= due) done.resolve(length);
  });
  return async (path) => {
    received = [];
    size = 0;
    due = Number.POSITIVE_INFINITY;
    done = Promise.withResolvers();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    return await done.promise;
  };
}
