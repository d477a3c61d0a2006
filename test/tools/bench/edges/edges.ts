import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, listens } from "../../../support/servers/free-port.ts";
import { shippedNginx } from "../../../support/servers/shipped-proxies.ts";
import { type BenchServer, startNodeServer } from "../harness/bench-server.ts";
import { ALL_CHANNELS } from "../harness/contender.ts";
import { cpuOf, driveAll } from "../harness/drive-all.ts";
import { LineProcess } from "../harness/line-process.ts";
import { LoadClient, type Run } from "../harness/load-client.ts";
import { makeMarket } from "../harness/make-market.ts";
import { writeMarket } from "../harness/market-file.ts";
import { debianProgram } from "../harness/on-demand.ts";
import { median, type Row } from "../report.ts";

const LEADER = new URL("../cluster/cluster-server.ts", import.meta.url);
const PROGRAM = new URL("../../../../src/main.ts", import.meta.url).pathname;
const ROUNDS = 5;
const RUN = { ms: 4_000, everyUs: 100_000 };
const MARKET_MINUTES = 5;
/** The clients' addresses, which nginx divides among the edges. */
const ADDRESSES = 250;
/** Settings of an edge without limits, as the leader's. */
const EDGE = `--port 0 --data none --no-compression --heartbeat 1m --log-level error --max-sockets 100000
  --max-sockets-per-ip 100000 --anonymous-requests none --anonymous-streams none`.split(/\s+/);

const KINDS = [
  { name: "one process", edges: 0, hasNginx: false },
  { name: "one process behind nginx", edges: 0, hasNginx: true },
  { name: "2 edges", edges: 2, hasNginx: false },
  { name: "2 edges behind nginx", edges: 2, hasNginx: true },
] as const;
type Kind = (typeof KINDS)[number];

interface Measured extends Run {
  /** CPU time of a delivery in microseconds, over all processes. */
  readonly us: number;
  /** The part of it that nginx used. */
  readonly nginxUs: number;
}

/** A gateway, or a leader with its edges, and nginx before it or not. */
class Setup {
  readonly kind: Kind;
  readonly #leader: BenchServer;
  readonly #edges: LineProcess[] = [];
  readonly #clients: LoadClient[] = [];
  #nginx: LineProcess | undefined;
  #ports: readonly number[] = [];

  private constructor(kind: Kind, leader: BenchServer) {
    this.kind = kind;
    this.#leader = leader;
  }

  static async start(kind: Kind, market: string, directory: string): Promise<Setup> {
    const setup = new Setup(kind, await startNodeServer(LEADER, ["{}", market]));
    const { port } = setup.#leader;
    const ports: number[] = [];
    for (let at = 0; at < kind.edges; at += 1) {
      const args = [PROGRAM, "serve", "--source", `follow:http://127.0.0.1:${port}`, ...EDGE];
      const edge = new LineProcess("server", process.execPath, args);
      setup.#edges.push(edge);
      ports.push(Number(/:(\d+)/.exec(await edge.line())?.[1]));
    }
    setup.#ports = kind.edges > 0 ? ports : [port];
    if (kind.hasNginx) await setup.#startNginx(directory);
    return setup;
  }

  async #startNginx(directory: string): Promise<void> {
    const { path } = debianProgram("nginx", "usr/sbin/nginx");
    const port = await freePort();
    const gateways = this.#ports.map((gateway) => `127.0.0.1:${gateway}`);
    // One process, which is measured and killed as a whole.
    const args = [...shippedNginx({ directory, port, gateways }), "-g", "master_process off;"];
    this.#nginx = new LineProcess("server", path, args);
    await listens(port);
    this.#ports = [port];
  }

  async open(count: number): Promise<void> {
    const each = Math.floor(count / this.#ports.length);
    await this.#leader.order({ clients: each });
    for (const port of this.#ports) {
      const client = new LoadClient({
        ...{ kind: "ws", paths: [ALL_CHANNELS], prefix: '{"type":"event"', port },
        ...{ sources: ADDRESSES, drivePort: this.#leader.control },
      });
      this.#clients.push(client);
      await client.open(each);
    }
  }

  async run(): Promise<Measured> {
    const proxies = this.#nginx ? [this.#nginx.pid] : [];
    const pids = [this.#leader.pid, ...this.#edges.map(({ pid }) => pid), ...proxies];
    const before = cpuOf(proxies);
    const run = await driveAll(this.#clients, pids, RUN);
    return { ...run, nginxUs: (cpuOf(proxies) - before) / run.deliveries };
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) await client.stop();
    await this.#nginx?.stop();
    for (const edge of this.#edges) await edge.stop();
    await this.#leader.stop();
  }
}

/**
 * Measures the cost of the same market from one process, and from two edges and their leader, both
 * with and without nginx before them, and the delay of an event up to the socket.
 */
export async function benchEdges(clients: number): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-bench-"));
  const market = join(directory, "market.json");
  writeMarket(market, makeMarket(MARKET_MINUTES));
  const setups: Setup[] = [];
  const rounds: (readonly Measured[])[] = [];
  try {
    for (const kind of KINDS) {
      const setup = await Setup.start(kind, market, mkdtempSync(join(directory, "nginx-")));
      setups.push(setup);
      await setup.open(clients);
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const runs: Measured[] = [];
      for (const setup of setups) runs.push(await setup.run());
      rounds.push(runs);
    }
    return KINDS.flatMap((kind, at) => rowsOf(kind, at, rounds));
  } finally {
    for (const setup of setups) await setup.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function rowsOf({ name, hasNginx }: Kind, at: number, rounds: readonly (readonly Measured[])[]): Row[] {
  const middle = (pick: (run: Measured, alone: Measured) => number) =>
    median(
      rounds.flatMap((runs) => {
        const [alone, own] = [runs[0], runs[at]];
        return alone && own ? [pick(own, alone)] : [];
      }),
    );
  const row = (what: string, value: number, unit: string) => ({
    what: `${name}: ${what}`,
    value,
    unit,
    aim: "",
  });
  const share = row("of it nginx", 100 * middle(({ us, nginxUs }) => nginxUs / us), "%");
  return [
    row(
      "CPU of a delivery",
      middle(({ us }) => us),
      "µs",
    ),
    ...(hasNginx ? [share] : []),
    row(
      "against one process",
      middle(({ us }, alone) => us / alone.us),
      "×",
    ),
    row("append to socket, p50", middle(({ p50Us }) => p50Us) / 1_000, "ms"),
    row("append to socket, p99", middle(({ p99Us }) => p99Us) / 1_000, "ms"),
  ];
}
