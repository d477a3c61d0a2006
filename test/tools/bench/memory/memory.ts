import { WINDOW_BITS } from "../../../../src/gateway/hub/index.ts";
import { type BenchServer, startNodeServer } from "../harness/bench-server.ts";
import { ALL_CHANNELS } from "../harness/contender.ts";
import { LoadClient, type LoadOptions } from "../harness/load-client.ts";
import { spreadOf } from "../harness/spread.ts";
import type { Row } from "../report.ts";
import type { Held } from "./memory-control.ts";

/**
 * Connections that come and go before the first measurement, and how often. They make the runtime
 * compile the code of a connection and allocate what it allocates once: without them, 4 to 8 MB
 * would count as memory of the connections.
 */
const FIRST = { count: 500, times: 8 };

interface Kind {
  readonly name: string;
  readonly file: string;
  readonly args?: readonly string[];
  readonly load: Pick<LoadOptions, "kind" | "paths" | "headers">;
  /** Name of the kind to compare with. */
  readonly peer?: string;
}

const [BARE, DEFLATED] = ["bare ws", "bare ws, deflate"];
const [WS, HTTP, GATEWAY] = [
  "./ws-memory-server.ts",
  "./http-memory-server.ts",
  "./gateway-memory-server.ts",
];
const EVENTS = "/api/v1/events?channels=*";
const headers = ["Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"];
const KINDS: readonly Kind[] = [
  { name: BARE, file: WS, load: { kind: "ws", paths: ["/"] } },
  { name: "flarewire WebSocket", file: GATEWAY, load: { kind: "ws", paths: [ALL_CHANNELS] }, peer: BARE },
  { name: DEFLATED, file: WS, args: [`${WINDOW_BITS}`], load: { kind: "ws", paths: ["/"], headers } },
  {
    name: "flarewire WebSocket, deflate",
    file: GATEWAY,
    load: { kind: "ws", paths: [ALL_CHANNELS], headers },
    peer: DEFLATED,
  },
  { name: "open response of node:http", file: HTTP, load: { kind: "sse", paths: ["/"] }, peer: BARE },
  { name: "flarewire server-sent events", file: GATEWAY, load: { kind: "sse", paths: [EVENTS] }, peer: BARE },
];

/** Connections to open, ascending, and rounds. */
const EFFORTS = {
  full: { sizes: [4_000, 10_000], rounds: 5 },
  short: { sizes: [500], rounds: 1 },
} as const;

/**
 * Measures the resident memory and the heap per idle connection: the difference of both before and
 * after opening the connections, after forced collections. Each round starts a new server of each
 * kind, on the same runtime with the same flags.
 */
export async function benchMemory(effort: keyof typeof EFFORTS): Promise<Row[]> {
  const { sizes, rounds } = EFFORTS[effort];
  const shares = new Map<string, (readonly Held[])[]>(KINDS.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const kind of KINDS) shares.get(kind.name)?.push(await sharesOf(kind, sizes));
  return sizes.flatMap((size, at) => {
    const held = (name = "") => (shares.get(name) ?? []).flatMap((one) => one[at] ?? []);
    return KINDS.flatMap(({ name, peer }) =>
      rowsOf(`${name}, ${size} connections`, held(name), peer, held(peer)),
    );
  });
}

/** Returns the memory of a connection at each of these numbers of connections. */
async function sharesOf({ file, args, load }: Kind, sizes: readonly number[]): Promise<Held[]> {
  const server = await startNodeServer(new URL(file, import.meta.url), args, ["--expose-gc"]);
  // An address may have half of the connections that the limit of open files allows.
  const client = new LoadClient({ ...load, port: server.port, sources: 2 });
  try {
    for (let time = 0; time < FIRST.times; time += 1) {
      await client.open(FIRST.count);
      await client.close();
    }
    const before = await heldBy(server);
    const shares: Held[] = [];
    let open = 0;
    for (const size of sizes) {
      await client.open(size - open);
      open = size;
      const after = await heldBy(server);
      const each = (of: keyof Held) => (after[of] - before[of]) / size;
      shares.push({ rss: each("rss"), heap: each("heap"), external: each("external") });
    }
    return shares;
  } finally {
    await client.stop();
    await server.stop();
  }
}

const heldBy = async (server: BenchServer) => (await server.order({ do: "held" })) as Held;

function rowsOf(name: string, own: readonly Held[], peer = "", peers: readonly Held[] = []): Row[] {
  const spread = ({ runs, spreadPct }: ReturnType<typeof spreadOf>) =>
    `median of ${runs} ± ${spreadPct.toFixed(0)} %`;
  return (["rss", "heap"] as const).flatMap((of) => {
    const what = `${name}: ${of === "rss" ? "resident" : "in V8's heap"}`;
    const aim = of === "rss" && name.startsWith("flarewire") ? "≤ 1.3, " : "";
    const bytes = spreadOf(own.map((held) => held[of]));
    const ratio = spreadOf(own.map((held, round) => held[of] / (peers[round]?.[of] ?? Number.NaN)));
    return [
      { what, value: bytes.median, unit: "bytes", aim: spread(bytes) },
      ...(peers.length > 0
        ? [{ what: `${what}, against ${peer}`, value: ratio.median, unit: "×", aim: aim + spread(ratio) }]
        : []),
    ];
  });
}
