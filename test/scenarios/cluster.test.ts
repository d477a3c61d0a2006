import { describe, expect, test } from "vitest";
import { type RunningCli, spawnCli } from "../cli/spawn-cli.ts";
import { HAS_REDIS, type RedisServer, startRedis } from "../cluster/redis-servers.ts";
import { createChance } from "../support/chance.ts";
import { HoppingClient } from "../support/hopping-client.ts";
import { expectOneState } from "../support/one-state.ts";

/** How often something is killed: as often as the variable says where there is time. */
const KILLS = Number(process.env.CLUSTER_KILLS ?? 20);
const NODES = 3;
/** Every seventh kill hits the leader, which takes seconds to replace. */
const LEADER_EVERY = 7;

/** A gateway in a process of its own. */
interface GatewayProcess {
  cli: RunningCli;
  url: string;
}

type Line = { readonly msg: string; readonly time: number; readonly term?: number };

function logOf({ cli }: GatewayProcess): readonly Line[] {
  const lines = cli.stderr().split("\n").slice(0, -1);
  return lines.map((line): Line => JSON.parse(line));
}

const isRunning = ({ cli }: GatewayProcess) => cli.child.exitCode === null && cli.child.signalCode === null;

class ProcessCluster implements AsyncDisposable {
  readonly nodes: GatewayProcess[] = [];
  readonly server: RedisServer;
  readonly #starting = new Set<Promise<void>>();

  private constructor(server: RedisServer) {
    this.server = server;
  }

  static async start(): Promise<ProcessCluster> {
    // What the server acknowledged survives its death.
    const cluster = new ProcessCluster(await startRedis({ appendfsync: "always" }));
    await Promise.all(Array.from({ length: NODES }, () => cluster.startNode()));
    return cluster;
  }

  async startNode(): Promise<void> {
    const address = `redis://127.0.0.1:${this.server.port}`;
    const market = [
      "--feed",
      "replay",
      "--speed",
      "300",
      "--warmup",
      "0",
      "--log-level",
      "info",
      "--no-compression",
    ];
    const cli = spawnCli(["serve", "--port", "0", "--drain", "0", "--cluster", address, ...market]);
    await cli.said("stdout", "\n");
    this.nodes.push({ cli, url: /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "" });
  }

  /** The node that began the latest term, if it runs. */
  get leader(): GatewayProcess | undefined {
    const terms = this.nodes.flatMap((node) =>
      logOf(node).map((line) => ({ node, term: line.msg === "leading the cluster" ? (line.term ?? 0) : 0 })),
    );
    const last = terms.toSorted((a, b) => a.term - b.term).at(-1);
    return last && last.term > 0 && isRunning(last.node) ? last.node : undefined;
  }

  get running(): readonly GatewayProcess[] {
    return this.nodes.filter(isRunning);
  }

  /** Kills a node, and starts another while the rest continues. */
  async replace(node: GatewayProcess): Promise<void> {
    node.cli.child.kill("SIGKILL");
    await node.cli.ended();
    const starting = this.startNode().finally(() => this.#starting.delete(starting));
    this.#starting.add(starting);
  }

  /** Resolves once the node has learned that another one leads. */
  async steppedDown(node: GatewayProcess): Promise<void> {
    await node.cli.said("stderr", "no longer leading the cluster");
  }

  /** Resolves when all nodes that were started run. */
  async settled(): Promise<void> {
    await Promise.all(this.#starting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#starting);
    for (const { cli } of this.nodes) await cli[Symbol.asyncDispose]();
    await this.server.dispose();
  }
}

/** Resolves when another node leads, and has published an event. */
async function goesOnWithout(cluster: ProcessCluster, paused: GatewayProcess): Promise<void> {
  await expect.poll(() => cluster.leader).not.toBe(paused);
  const seq = async () => {
    const { headers } = await fetch(`${cluster.leader?.url}/api/v1/flares`, { method: "HEAD" });
    return Number(headers.get("flarewire-cursor")?.split("-")[1]);
  };
  const before = await seq();
  await expect.poll(seq).toBeGreaterThan(before);
}

describe.skipIf(!HAS_REDIS)("gateways of a cluster in processes of their own", () => {
  test("[L3] killed or paused in turn, and their server too, they keep one log: clients that move between them over all transports see no hole, no repeat and no reset, and hold what REST serves", {
    timeout: 60_000 + KILLS * 10_000,
  }, async () => {
    await using cluster = await ProcessCluster.start();
    await expect.poll(() => cluster.leader).toBeDefined();
    const chance = createChance(Number(process.env.SEED ?? 1));
    const clients = [1, 2, 3].map(
      (seed) => new HoppingClient(() => cluster.running.map(({ url }) => url), createChance(seed)),
    );
    const following = clients.map((client) => client.follow());
    const seqs = () => clients.map(({ seq }) => seq);
    const moves = async (more: number) => {
      const target = Math.max(...seqs()) + more;
      await expect.poll(() => Math.max(...seqs()), { interval: 10 }).toBeGreaterThan(target);
    };
    await moves(20);
    const takeOversMs: number[] = [];
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const startedAt = performance.now();
      const isLeader = kill % LEADER_EVERY === 0;
      // Another node may lead a moment later.
      let leader: GatewayProcess | undefined;
      await expect.poll(() => (leader = cluster.leader)).toBeDefined();
      const victims = cluster.running.filter((node) => (node === leader) === isLeader);
      const [first, ...others] = victims;
      if (!first) throw new Error("there is no such node");
      const victim = chance.pick([first, ...others]);
      const isPaused = isLeader && kill % (2 * LEADER_EVERY) === 0;
      if (isPaused) victim.cli.child.kill("SIGSTOP");
      else if (isLeader || chance.happens(0.5)) await cluster.replace(victim);
      else {
        await cluster.server.kill();
        await cluster.server.start();
      }
      // All clients may be at the paused one: what the next leader serves shows that it goes on.
      if (isPaused) await goesOnWithout(cluster, victim);
      else await moves(chance.whole(1, 30));
      if (isLeader) takeOversMs.push(Math.round(performance.now() - startedAt));
      if (isPaused) victim.cli.child.kill("SIGCONT");
      if (isPaused) await cluster.steppedDown(victim);
      if (cluster.running.length < NODES - 1) await cluster.settled();
    }
    process.stdout.write(`events again after the loss of a leader: ${takeOversMs.join(", ")} ms\n`);
    await cluster.settled();
    for (const client of clients) client.end();
    await Promise.all(following);
    for (const client of clients) {
      expect(client.trouble).toEqual([]);
      expect(client.resets).toBe(1);
      const { applied } = client;
      expect(applied).toEqual(applied.map((_, index) => (applied[0] ?? 0) + index));
      for (const { url } of cluster.running) {
        client.base = url;
        await client.connect();
        await expectOneState(url, client);
        await client.disconnect();
      }
      expect(client.epochs.size).toBe(1);
    }
  });
});
