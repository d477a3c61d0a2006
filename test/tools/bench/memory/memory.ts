import { type BenchServer, startNodeServer } from "../harness/bench-server.ts";
import { ALL_CHANNELS } from "../harness/contender.ts";
import { LoadClient, type LoadOptions } from "../harness/load-client.ts";
import { spreadOf } from "../harness/spread.ts";
import { median, type Row } from "../report.ts";
import type { Held } from "./memory-control.ts";

/**
 * Connections opened and closed before the first measurement, because a server allocates some
 * memory once for its first connections.
 */
const FIRST = 500;

interface Kind {
  readonly name: string;
  readonly file: string;
  readonly load: Pick<LoadOptions, "kind" | "paths">;
}

const BARE = "bare ws";
const KINDS: readonly Kind[] = [
  { name: BARE, file: "./ws-memory-server.ts", load: { kind: "ws", paths: ["/"] } },
  { name: "open answer of node:http", file: "./http-memory-server.ts", load: { kind: "sse", paths: ["/"] } },
  {
    name: "flarewire WebSocket",
    file: "./gateway-memory-server.ts",
    load: { kind: "ws", paths: [ALL_CHANNELS] },
  },
  {
    name: "flarewire server-sent events",
    file: "./gateway-memory-server.ts",
    load: { kind: "sse", paths: ["/api/v1/events?channels=*"] },
  },
];

/**
 * Measures the resident memory and the heap per idle connection: the difference of both before and
 * after opening `clients` connections, after forced collections. Each round starts new servers on
 * the same runtime with the same flags.
 */
export async function benchMemory(clients: number, rounds: number): Promise<Row[]> {
  const shares = new Map<string, Held[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of KINDS)
      shares.set(kind.name, [...(shares.get(kind.name) ?? []), await share(kind, clients)]);
  }
  return [...shares].flatMap(([name, held]) => rowsOf(name, held, shares.get(BARE) ?? []));
}

async function share({ file, load }: Kind, clients: number): Promise<Held> {
  const server = await startNodeServer(new URL(file, import.meta.url), [], ["--expose-gc"]);
  const client = new LoadClient({ ...load, port: server.port });
  try {
    await client.open(FIRST);
    await client.close();
    const before = await heldBy(server);
    await client.open(clients);
    const after = await heldBy(server);
    const each = (of: keyof Held) => (after[of] - before[of]) / clients;
    return { rss: each("rss"), heap: each("heap"), external: each("external") };
  } finally {
    await client.stop();
    await server.stop();
  }
}

const heldBy = async (server: BenchServer) => (await server.order({ do: "held" })) as Held;

function rowsOf(name: string, held: readonly Held[], bare: readonly Held[]): Row[] {
  const rss = spreadOf(held.map((one) => one.rss));
  const heap = median(held.map((one) => one.heap));
  const ratio = spreadOf(held.map((one, round) => one.rss / (bare[round]?.rss ?? Number.NaN)));
  const aim = name.startsWith("flarewire") ? "≤ 1.3" : "shown";
  return [
    {
      what: `${name}, resident memory of a connection`,
      value: rss.median,
      unit: "bytes",
      aim: `median of ${rss.runs} ± ${rss.spreadPct.toFixed(0)} %`,
    },
    { what: `${name}, of it in V8's heap`, value: heap, unit: "bytes", aim: "shown" },
    ...(name === BARE
      ? []
      : [{ what: `${name}, resident memory against bare ws`, value: ratio.median, unit: "×", aim }]),
  ];
}
