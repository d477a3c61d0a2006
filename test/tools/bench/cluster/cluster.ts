import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { LOG_START } from "../../../../src/scale/cluster/entry.ts";
import { seal } from "../../../../src/scale/cluster/entry-text.ts";
import { RedisEngine } from "../../../../src/scale/cluster/redis/redis-engine.ts";
import { type RedisServer, startRedis } from "../../../scale/cluster/redis-servers.ts";
import { type BenchServer, startNodeServer } from "../harness/bench-server.ts";
import { ALL_CHANNELS } from "../harness/contender.ts";
import { driveAll } from "../harness/drive-all.ts";
import { LoadClient, type Run } from "../harness/load-client.ts";
import { makeMarket } from "../harness/make-market.ts";
import { writeMarket } from "../harness/market-file.ts";
import { cpuMicros, rssBytes } from "../harness/process-cost.ts";
import { median, type Row } from "../report.ts";

const SERVER = new URL("cluster-server.ts", import.meta.url);
const ROUNDS = 3;
const RUN = { ms: 4_000, everyUs: 100_000 };
const MARKET_MINUTES = 5;

/** Equal servers of one log, each with its share of the clients. */
class Group {
  readonly name: string;
  readonly servers: BenchServer[] = [];
  readonly #clients: LoadClient[] = [];
  #redis: RedisServer | undefined;

  private constructor(name: string) {
    this.name = name;
  }

  static async start(name: string, market: string, size: number): Promise<Group> {
    const group = new Group(name);
    const isCluster = name.includes("node");
    if (isCluster) group.#redis = await startRedis({ appendfsync: "everysec" });
    const cluster = isCluster ? { cluster: `redis://127.0.0.1:${group.#redis?.port}` } : {};
    // The first server leads.
    for (let at = 0; at < size; at += 1)
      group.servers.push(await startNodeServer(SERVER, [JSON.stringify(cluster), market]));
    return group;
  }

  async open(count: number): Promise<void> {
    const each = Math.floor(count / this.servers.length);
    const [leader] = this.servers;
    await leader?.order({ clients: each });
    for (const { port } of this.servers) {
      const client = new LoadClient({
        ...{ kind: "ws", paths: [ALL_CHANNELS], prefix: '{"type":"event"', port },
        // A server accepts at most half of its connections from one address.
        sources: 4,
        ...(leader ? { drivePort: leader.control } : {}),
      });
      this.#clients.push(client);
      await client.open(each);
    }
  }

  /** All processes that serve clients, without the log's server. */
  get pids(): readonly number[] {
    return this.servers.map(({ pid }) => pid);
  }

  /** Drives from a client of the last server, so that a cluster's events pass through all nodes. */
  run(drive: { readonly ms: number; readonly everyUs: number }): Promise<Run & { readonly us: number }> {
    return driveAll(this.#clients, this.pids, drive);
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) await client.stop();
    for (const server of this.servers) await server.stop();
    await this.#redis?.dispose();
  }
}

/**
 * Measures the cost of the same market in one process and in clusters of one, two and four nodes,
 * and the delay of an event up to the socket. Then measures many sockets at four nodes.
 */
export async function benchCluster(clients: number, sockets: number): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-bench-"));
  const market = join(directory, "market.json");
  writeMarket(market, makeMarket(MARKET_MINUTES));
  try {
    const rows = [...(await compare(market, clients)), await readerCost(50)];
    if (sockets > 0) rows.push(...(await hold(market, sockets)));
    return rows;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const KINDS = [
  { name: "one process", size: 1 },
  { name: "1 node", size: 1 },
  { name: "2 nodes", size: 2 },
  { name: "4 nodes", size: 4 },
] as const;

async function compare(market: string, clients: number): Promise<Row[]> {
  const groups: Group[] = [];
  const costs = new Map<string, number[]>();
  const waits = new Map<string, Run[]>();
  try {
    for (const { name, size } of KINDS) {
      const group = await Group.start(name, market, size);
      groups.push(group);
      await group.open(clients);
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const group of groups) {
        const run = await group.run(RUN);
        costs.set(group.name, [...(costs.get(group.name) ?? []), run.us]);
        waits.set(group.name, [...(waits.get(group.name) ?? []), run]);
      }
    }
  } finally {
    for (const group of groups) await group.stop();
  }
  const alone = costs.get("one process") ?? [];
  return groups.flatMap(({ name }) => {
    const own = costs.get(name) ?? [];
    const ratio = median(own.map((us, round) => us / (alone[round] ?? us)));
    const of = (pick: (run: Run) => number) => median((waits.get(name) ?? []).map(pick)) / 1_000;
    const aim = "";
    return [
      { what: `${name}: deliveries per CPU second`, value: 1e6 / median(own), unit: "", aim },
      { what: `${name}: cost against one process`, value: ratio, unit: "×", aim },
      { what: `${name}: append to socket, p50`, value: of(({ p50Us }) => p50Us), unit: "ms", aim },
      { what: `${name}: append to socket, p99`, value: of(({ p99Us }) => p99Us), unit: "ms", aim },
    ];
  });
}

/** Returns the CPU time of the log's server for one batch that many nodes read. */
async function readerCost(readers: number): Promise<Row> {
  const batches = 200;
  const bytes = 2_900;
  const server = await startRedis();
  const engines = Array.from(
    { length: readers },
    () =>
      new RedisEngine({
        ...{ connection: { host: "127.0.0.1", port: server.port }, name: "bench", acknowledgements: 0 },
        ...{ retained: 3_600, clock: systemClock, notify: () => {} },
      }),
  );
  const over = new AbortController();
  try {
    let seen = 0;
    const reading = engines.map(async (engine) => {
      for await (const news of engine.read(1, over.signal)) {
        if (news.kind === "entry") seen += 1;
        if (news.kind === "entry" && news.entry.offset === batches) return;
      }
    });
    const [writer] = engines;
    let at = LOG_START;
    const before = cpuMicros(server.pid);
    for (let batch = 0; batch < batches; batch += 1) {
      const header = { kind: "batch", term: 1, by: "bench", committed: at.offset, epoch: "bench" } as const;
      const entry = seal(
        at.offset + 1,
        { ...header, nonce: `${batch}`, prev: at.hash },
        Buffer.alloc(bytes, "x"),
      );
      await writer?.append(entry, over.signal);
      writer?.notify({ kind: "commit", position: entry });
      at = entry;
    }
    await Promise.all(reading);
    if (seen !== batches * readers) throw new Error(`the readers saw ${seen} entries`);
    const ms = (cpuMicros(server.pid) - before) / batches / 1_000;
    return {
      what: `the log's server, one batch for ${readers} readers`,
      value: ms,
      unit: "ms of CPU",
      aim: "",
    };
  } finally {
    over.abort();
    for (const engine of engines) await engine.close();
    await server.dispose();
  }
}

async function hold(market: string, sockets: number): Promise<Row[]> {
  const group = await Group.start("4 nodes", market, 4);
  try {
    const memory = () => group.pids.reduce((sum, pid) => sum + rssBytes(pid), 0);
    const before = memory();
    await group.open(sockets);
    const perSocket = (memory() - before) / sockets / 1_024;
    const { p50Us, p99Us, us } = await group.run({ ms: 15_000, everyUs: 1_000_000 });
    const what = `${sockets} sockets at 4 nodes`;
    return [
      { what: `${what}: memory`, value: perSocket, unit: "kB/socket", aim: "" },
      { what: `${what}: deliveries per CPU second`, value: 1e6 / us, unit: "", aim: "" },
      {
        what: `${what}: append to socket at one batch a second, p50`,
        value: p50Us / 1_000,
        unit: "ms",
        aim: "",
      },
      {
        what: `${what}: append to socket at one batch a second, p99`,
        value: p99Us / 1_000,
        unit: "ms",
        aim: "",
      },
    ];
  } finally {
    await group.stop();
  }
}
