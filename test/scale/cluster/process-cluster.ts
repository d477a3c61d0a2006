import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type RunningCli, spawnCli } from "../../app/cli/spawn-cli.ts";
import { type RedisServer, startRedis } from "./redis-servers.ts";

/** A gateway in its own process. */
export interface GatewayProcess {
  readonly cli: RunningCli;
  readonly url: string;
  /** The data directory, if the gateway has one. Its replacement uses it too. */
  readonly data: string | undefined;
  /** The last term that it led, or 0; set once it has ended. */
  lastTerm?: number;
}

type Line = { readonly msg: string; readonly time: string; readonly term?: number };

function logOf({ cli }: GatewayProcess): readonly Line[] {
  const lines = cli.stderr().split("\n").slice(0, -1);
  return lines.map((line): Line => JSON.parse(line));
}

const lastTermOf = (node: GatewayProcess) =>
  logOf(node).findLast(({ msg }) => msg === "leading the cluster")?.term ?? 0;
const isRunning = ({ cli }: GatewayProcess) => cli.child.exitCode === null && cli.child.signalCode === null;

/** Runs a Redis server, and the gateways of a cluster in one process each. */
export class ProcessCluster implements AsyncDisposable {
  readonly nodes: GatewayProcess[] = [];
  readonly server: RedisServer;
  readonly size: number;
  readonly #args: readonly string[];
  readonly #data: string | undefined;
  readonly #starting = new Set<Promise<void>>();

  private constructor(server: RedisServer, size: number, args: readonly string[], data?: string) {
    this.server = server;
    this.size = size;
    this.#args = args;
    this.#data = data;
  }

  /**
   * @param args Further arguments of `serve`.
   * @param data Directory for the nodes' data directories. Default: data in memory.
   */
  static async start(size: number, args: readonly string[], data?: string): Promise<ProcessCluster> {
    // With `always`, what the server has acknowledged survives a kill.
    const server = await startRedis({ appendfsync: "always" });
    const cluster = new ProcessCluster(server, size, args, data);
    await Promise.all(Array.from({ length: size }, () => cluster.startNode()));
    return cluster;
  }

  /** @param data Default: a new directory. */
  async startNode(data = this.#data && mkdtempSync(join(this.#data, "node-"))): Promise<GatewayProcess> {
    const address = `redis://127.0.0.1:${this.server.port}`;
    const usual = ["--port", "0", "--log-level", "info", "--no-compression"];
    const stored = data === undefined ? [] : ["--data", data];
    const cli = spawnCli(["serve", ...usual, "--cluster", address, ...stored, ...this.#args]);
    await cli.said("stdout", "\n").catch(async (error: unknown) => {
      await cli[Symbol.asyncDispose]();
      throw error;
    });
    const node = { cli, url: /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "", data };
    this.nodes.push(node);
    return node;
  }

  /** The node that began the latest term, if it still runs. */
  get leader(): GatewayProcess | undefined {
    const terms = this.nodes.map((node) => ({ node, term: node.lastTerm ?? lastTermOf(node) }));
    const last = terms.toSorted((a, b) => a.term - b.term).at(-1);
    return last && last.term > 0 && isRunning(last.node) ? last.node : undefined;
  }

  /** Resolves with the time at which another node began to lead, in ms since 1970 UTC. */
  async newLeaderAfter(lost: GatewayProcess): Promise<number> {
    let next: GatewayProcess | undefined;
    const hasNext = () => {
      next = this.leader;
      return next !== undefined && next !== lost;
    };
    await expect
      .poll(hasNext, { interval: 10 })
      .toBe(true)
      .catch((cause: unknown) => {
        throw new Error(`no node leads: ${this.state}`, { cause });
      });
    const began = next && logOf(next).findLast(({ msg }) => msg === "leading the cluster");
    return Date.parse(began?.time ?? "");
  }

  /** The exit status and latest log lines of each node that was not replaced. */
  get state(): string {
    const alive = this.nodes.filter(({ lastTerm }) => lastTerm === undefined);
    const reports = alive.map(({ cli, url }) => {
      const { pid, exitCode, signalCode } = cli.child;
      return [
        `${url}, process ${pid}, ended ${exitCode ?? signalCode}`,
        ...cli.stderr().split("\n").slice(-8),
      ];
    });
    return reports.flat().join("\n");
  }

  get running(): readonly GatewayProcess[] {
    return this.nodes.filter(isRunning);
  }

  /** Kills a node, and starts its replacement without waiting for it. */
  async replace(node: GatewayProcess): Promise<void> {
    node.cli.child.kill("SIGKILL");
    await node.cli.ended();
    node.lastTerm = lastTermOf(node);
    const starting = this.startNode(node.data).then(() => void this.#starting.delete(starting));
    this.#starting.add(starting);
  }

  /** Resolves once the node logs that it no longer leads. */
  async steppedDown(node: GatewayProcess): Promise<void> {
    await node.cli.said("stderr", "no longer leading the cluster");
  }

  /** Resolves when all replacements have started. */
  async settled(): Promise<void> {
    await Promise.all(this.#starting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#starting);
    for (const { cli } of this.nodes) await cli[Symbol.asyncDispose]();
    await this.server.dispose();
  }
}
