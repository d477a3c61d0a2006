import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type RunningCli, spawnCli } from "../app/cli/spawn-cli.ts";
import { endWithThisProcess } from "../support/servers/end-with.ts";
import { freePort, listens } from "../support/servers/free-port.ts";
import { pumpedFlags } from "../support/world/pumped-market.ts";

const UNIT = fileURLToPath(new URL("../../examples/deploy/flarewire-edge@.service", import.meta.url));
const MARKET = [...pumpedFlags(), "--loop", "--speed", "120", "--warmup", "1h", "--drain", "0"];

async function serve(args: readonly string[], environment: Record<string, string>): Promise<RunningCli> {
  const cli = spawnCli(["serve", "--no-compression", ...args], environment);
  await cli.said("stdout", "\n").catch(async (error: unknown) => {
    await cli[Symbol.asyncDispose]();
    throw error;
  });
  return cli;
}

/** An edge with the environment of its unit. After its end it can start again at its port. */
class Edge {
  readonly url: string;
  readonly #args: readonly string[];
  readonly #environment: Record<string, string>;
  #cli: RunningCli | undefined;

  constructor(port: number, directory: string, leader: string, args: readonly string[]) {
    const [, line = ""] = /^Environment=(.*)$/m.exec(readFileSync(UNIT, "utf8")) ?? [];
    const words = line.replaceAll("%i", `${port}`).replaceAll("%S", directory).split(" ");
    this.url = `http://127.0.0.1:${port}`;
    this.#args = args;
    this.#environment = {
      ...Object.fromEntries(words.map((word) => word.split(/=(.*)/s))),
      ...{ FLAREWIRE_SOURCE: `follow:${leader}`, FLAREWIRE_METRICS_PORT: "none" },
    };
  }

  get isRunning(): boolean {
    const { exitCode, signalCode } = this.#cli?.child ?? {};
    return exitCode === null && signalCode === null;
  }

  async start(): Promise<void> {
    this.#cli = await serve(this.#args, this.#environment);
  }

  kill(signal: "SIGTERM" | "SIGKILL"): void {
    this.#cli?.child.kill(signal);
  }

  /** Resolves with its exit code. */
  async ended(): Promise<number | null | undefined> {
    return this.#cli?.ended();
  }

  /** The WebSockets that it serves. */
  sockets(): Promise<number> {
    return this.#metric('flarewire_connections{transport="websocket"}');
  }

  /** How often `/readyz` has given this answer since the start. */
  checks(status: 200 | 503): Promise<number> {
    return this.#metric(`flarewire_http_responses_total{route="/readyz",status="${status}"}`);
  }

  async #metric(series: string): Promise<number> {
    const metrics = await (await fetch(`${this.url}/metrics`)).text();
    return Number(metrics.split(`\n${series} `)[1]?.split("\n")[0] ?? 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cli?.[Symbol.asyncDispose]();
  }
}

export type { Edge };

/** A leader and two edges, each in its own process, and proxies before the edges. */
export class EdgeProcesses implements AsyncDisposable {
  readonly edges: readonly [Edge, Edge];
  readonly #leader: RunningCli;
  readonly #directory: string;
  readonly #proxies: ChildProcess[] = [];

  private constructor(leader: RunningCli, directory: string, edges: readonly [Edge, Edge]) {
    this.#leader = leader;
    this.#directory = directory;
    this.edges = edges;
  }

  /** @param args Further arguments of the edges. */
  static async start(args: readonly string[]): Promise<EdgeProcesses> {
    const directory = mkdtempSync(join(tmpdir(), "flarewire-edges-"));
    const leader = await serve(["--port", "0", ...MARKET], {});
    const url = /http:\/\/[\d.]+:\d+/.exec(leader.stdout())?.[0] ?? "";
    const edgeAt = (port: number) => new Edge(port, directory, url, args);
    const edges = [edgeAt(await freePort()), edgeAt(await freePort())] as const;
    const all = new EdgeProcesses(leader, directory, edges);
    const started = await Promise.allSettled(edges.map((edge) => edge.start()));
    for (const one of started) {
      if (one.status === "fulfilled") continue;
      await all[Symbol.asyncDispose]();
      throw one.reason;
    }
    return all;
  }

  /** Starts a proxy before the edges. Resolves with its address. `argsOf` writes its files. */
  async startProxy(
    program: string,
    argsOf: (place: { directory: string; port: number; gateways: readonly string[] }) => readonly string[],
  ): Promise<string> {
    const port = await freePort();
    const directory = join(this.#directory, `${port}`);
    mkdirSync(directory);
    const gateways = this.edges.map((edge) => new URL(edge.url).host);
    const env = { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory };
    const child = spawn(program, argsOf({ directory, port, gateways }), { env, stdio: "ignore" });
    const unwatch = endWithThisProcess(child);
    child.once("exit", unwatch);
    this.#proxies.push(child);
    await listens(port);
    return `http://127.0.0.1:${port}`;
  }

  async killLeader(): Promise<void> {
    this.#leader.child.kill("SIGKILL");
    await this.#leader.ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#proxies) {
      if (child.exitCode !== null) continue;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
    for (const edge of this.edges) await edge[Symbol.asyncDispose]();
    await this.#leader[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
