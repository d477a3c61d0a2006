import { type BenchServer, startNodeServer } from "../harness/bench-server.ts";
import { ALL_CHANNELS } from "../harness/contender.ts";
import { LoadClient, type LoadOptions } from "../harness/load-client.ts";
import { cpuMicros } from "../harness/process-cost.ts";
import { spreadOf } from "../harness/spread.ts";
import type { Row } from "../report.ts";

/** Flares in the lists that each client gets: about 160 kB of JSON. */
const FLARES = 190;
const CONNECTIONS = 400;
/** Few enough that the server does not queue them. */
const CONCURRENCY = 4;
/** By then, each client has its lists. */
const READ_MS = 200;
const AIM_US = 400;

interface Kind {
  readonly name: string;
  readonly load: Pick<LoadOptions, "kind" | "paths" | "headers">;
}

const BARE = "bare ws, without a message";
const OFFER = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits";
const KINDS: readonly Kind[] = [
  { name: BARE, load: { kind: "ws", paths: ["/"] } },
  { name: "WebSocket", load: { kind: "ws", paths: [ALL_CHANNELS] } },
  { name: "WebSocket, compressed", load: { kind: "ws", paths: [ALL_CHANNELS], headers: [OFFER] } },
  { name: "WebSocket, without lists", load: { kind: "ws", paths: [`${ALL_CHANNELS}&snapshot=false`] } },
  { name: "server-sent events", load: { kind: "sse", paths: ["/api/v1/events?channels=*"] } },
];

/**
 * Measures the server's CPU time per connection, from its accept to its close, with the lists that
 * it gets.
 */
export async function benchAdmission(rounds: number): Promise<Row[]> {
  const bench = (file: string) => new URL(`../memory/${file}-memory-server.ts`, import.meta.url);
  const [ws, gateway] = [
    await startNodeServer(bench("ws")),
    await startNodeServer(bench("gateway"), [String(FLARES)]),
  ];
  try {
    const costs = new Map<string, number[]>();
    for (let round = -1; round < rounds; round += 1) {
      for (const kind of KINDS) {
        const cost = await costOf(kind.name === BARE ? ws : gateway, kind);
        if (round >= 0) costs.set(kind.name, [...(costs.get(kind.name) ?? []), cost]);
      }
    }
    return [...costs].map(([name, all]): Row => {
      const { median, spreadPct } = spreadOf(all);
      const aim = name === BARE ? "shown" : `≤ ${AIM_US}`;
      return {
        what: `${name}: a connection`,
        value: median,
        unit: "µs",
        aim: `${aim}, ±${spreadPct.toFixed(0)} %`,
      };
    });
  } finally {
    await ws.stop();
    await gateway.stop();
  }
}

async function costOf({ pid, port }: BenchServer, { load }: Kind): Promise<number> {
  const client = new LoadClient({ ...load, port });
  try {
    const before = cpuMicros(pid);
    await client.open(CONNECTIONS, CONCURRENCY);
    await client.watch(READ_MS);
    await client.close();
    return (cpuMicros(pid) - before) / CONNECTIONS;
  } finally {
    await client.stop();
  }
}
