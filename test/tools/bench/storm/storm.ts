import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as passing } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../support/servers/free-port.ts";
import { ALL_CHANNELS } from "../harness/contender.ts";
import { checkOpenFiles } from "../harness/field.ts";
import { LineProcess } from "../harness/line-process.ts";
import { LoadClient, type Returned } from "../harness/load-client.ts";
import { cpuMicros } from "../harness/process-cost.ts";
import { spreadOf } from "../harness/spread.ts";
import type { Row } from "../report.ts";

/** One client in ten comes from one of 20 further addresses, all others from 127.0.0.1. */
const SKEW = { sources: 21, skew: 10 };
const BYSTANDER = { path: "/api/v1/newest", address: "127.0.1.1" };
/** Pause of a client that could not connect. The SDK's is 1 to 2 s, then longer. */
const RETRY_MS = [100, 200] as const;
/** Event time between two kills, so that the start has some of the market to catch up with. */
const SETTLED_MS = 5_000;
/** After the warm-up, the state has been stored once. */
const FIRST_MS = 10_000;
const SETTINGS = `--log-level error --max-sockets 15000 --max-sockets-per-ip 15000
  --drain 0 --anonymous-requests none --anonymous-streams none`.split(/\s+/);

interface StormOptions {
  readonly comers: number;
  readonly rounds: number;
  /** Root of another checkout, whose server takes turns with ours. Default: only ours. */
  readonly checkout?: string | undefined;
}

const HERDS = ["with cursors", "without"] as const;

/** The figures of one return, by what they say. Times are in ms. */
type Figures = Readonly<Record<keyof typeof FIGURES, number>>;

const FIGURES = {
  ready: { what: "kill to ready", unit: "ms", aim: "≤ 3,000" },
  back: { what: "kill to all back", unit: "ms", aim: "shown" },
  median: { what: "kill to half of them back", unit: "ms", aim: "shown" },
  others: { what: "kill to all of the 20 small addresses back", unit: "ms", aim: "before all" },
  resumed: { what: "continued after their cursor", unit: "clients", aim: "all with cursors" },
  reset: { what: "got lists", unit: "clients", aim: "all without" },
  refusals: { what: "told to come again", unit: "times", aim: "shown" },
  p50: { what: "bystander from ready until all are back, p50", unit: "ms", aim: "shown" },
  p99: { what: "its p99", unit: "ms", aim: "≤ 250" },
  longest: { what: "its longest", unit: "ms", aim: "shown" },
  cpu: { what: "server's CPU from its start until all are back", unit: "ms", aim: "shown" },
  clients: { what: "clients' CPU meanwhile", unit: "ms", aim: "below the time" },
} as const;
const NAMES = Object.keys(FIGURES) as readonly (keyof typeof FIGURES)[];

/**
 * Kills a server with its clients, starts it again on its data, and measures the return of all
 * clients at once, beside the requests of a bystander on an address of its own. All clients share
 * one core, the server has the other.
 */
export async function benchStorm({ comers, rounds, checkout }: StormOptions): Promise<Row[]> {
  checkOpenFiles(comers);
  const own = fileURLToPath(new URL("../../../../", import.meta.url));
  const versions = [
    ...(checkout === undefined ? [] : [{ name: "other", root: checkout }]),
    { name: "", root: own },
  ];
  const storm = await Storm.begin(
    versions.map(({ root }) => root),
    comers,
  );
  try {
    const measured = new Map<string, Figures[]>();
    for (let round = 0; round < rounds; round += 1) {
      for (const herd of HERDS) {
        for (const { name, root } of versions) {
          const title = `${comers} ${herd}${name && ` (${name})`}`;
          const figures = await storm.strike(root, herd === "with cursors");
          measured.set(title, [...(measured.get(title) ?? []), figures]);
          process.stderr.write(
            `  ${title}: ${NAMES.map((key) => `${key} ${figures[key].toFixed(0)}`).join(", ")}\n`,
          );
        }
      }
    }
    return [...measured].flatMap(([title, all]) => NAMES.map((key) => rowOf(title, key, all)));
  } finally {
    await storm.end();
  }
}

/** A server that is killed and started again, with its clients. */
class Storm {
  readonly #data: string;
  readonly #port: number;
  readonly #clients: LoadClient;
  readonly #bystander: LineProcess;
  #server: LineProcess;

  private constructor(data: string, port: number, server: LineProcess) {
    this.#data = data;
    this.#port = port;
    this.#server = server;
    this.#clients = new LoadClient({ kind: "ws", paths: [ALL_CHANNELS], port, ...SKEW });
    const file = fileURLToPath(new URL("../dear/bystander.ts", import.meta.url));
    const { path, address } = BYSTANDER;
    this.#bystander = new LineProcess("load", process.execPath, [file, `${port}`, path, address]);
  }

  /** Starts the first server, and opens the clients. */
  static async begin(roots: readonly string[], comers: number): Promise<Storm> {
    const data = mkdtempSync(join(tmpdir(), "flarewire-storm-"));
    const port = await freePort();
    const start = async (root: string) => {
      const server = serverOf(root, data, port);
      await server.line();
      while (!(await readList(port)).ok) await passing(100);
      return server;
    };
    // Node stores the compiled sources of a process that ends by itself.
    for (const root of roots) {
      const server = await start(root);
      process.kill(server.pid);
      await server.line().catch(() => {});
    }
    const server = await start(roots[0] ?? "");
    const storm = new Storm(data, port, server);
    await storm.#clients.open(comers);
    await passing(FIRST_MS);
    return storm;
  }

  /** Kills the server and starts the one of this checkout. */
  async strike(root: string, hasCursors: boolean): Promise<Figures> {
    await passing(SETTLED_MS);
    const cursor = (await readList(this.#port)).headers.get("flarewire-cursor");
    const returning = this.#clients.comeBack(
      hasCursors ? `${ALL_CHANNELS}&after=${cursor}` : ALL_CHANNELS,
      RETRY_MS,
    );
    const killedAtMs = performance.now();
    await this.#server.stop();
    this.#server = serverOf(root, this.#data, this.#port);
    await this.#server.line();
    const readyMs = performance.now() - killedAtMs;
    await this.#bystander.ask("begin");
    const returned = await returning;
    const cpuMs = cpuMicros(this.#server.pid) / 1_000;
    const waits: readonly number[] = JSON.parse(await this.#bystander.ask("end"));
    return figuresOf(readyMs, returned, waits, cpuMs);
  }

  async end(): Promise<void> {
    await this.#bystander.stop();
    await this.#clients.stop();
    await this.#server.stop();
    rmSync(this.#data, { recursive: true, force: true });
  }
}

function readList(port: number): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${BYSTANDER.path}`);
}

function serverOf(root: string, data: string, port: number): LineProcess {
  const main = join(root, "src/main.ts");
  const args = [main, "serve", "--port", `${port}`, "--data", data, ...SETTINGS];
  return new LineProcess("server", process.execPath, args);
}

function figuresOf(ready: number, returned: Returned, waits: readonly number[], cpu: number): Figures {
  const { one, others, resumed, reset, refusals, cpuUs } = returned;
  const at = (share: number) =>
    waits[Math.min(waits.length - 1, Math.floor(share * waits.length))] ?? Number.NaN;
  return {
    ready,
    back: Math.max(one.maxUs, others.maxUs) / 1_000,
    median: one.p50Us / 1_000,
    others: others.maxUs / 1_000,
    resumed,
    reset,
    refusals,
    p50: at(0.5),
    p99: at(0.99),
    longest: at(1),
    cpu,
    clients: cpuUs / 1_000,
  };
}

function rowOf(title: string, key: keyof typeof FIGURES, all: readonly Figures[]): Row {
  const { what, unit, aim } = FIGURES[key];
  const { median, spreadPct, runs } = spreadOf(all.map((figures) => figures[key]));
  const spread = runs > 1 && median > 0 ? `; median of ${runs} ± ${spreadPct.toFixed(0)} %` : "";
  return { what: `${title}: ${what}`, value: median, unit, aim: `${aim}${spread}` };
}
