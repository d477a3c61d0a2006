import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningCli, spawnNode } from "../../app/cli/spawn-cli.ts";
import { HoppingClient } from "../../support/clients/hopping-client.ts";
import { expectOneState } from "../../support/expect/one-state.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { createChance } from "../../support/random/chance.ts";
import { pumpedFlags } from "../../support/world/pumped-market.ts";
import { eventsOnServer, expectSameEvents } from "./cluster-log.ts";
import { HAS_SENTINEL, SentinelServers } from "./sentinel-servers.ts";

/** Number of fail-overs, by pausing and killing the primary in turn. */
const FAILOVERS = Number(process.env.CLUSTER_FAILOVERS ?? 1);
/** Longer than an election without a winner plus the next election. */
const WAIT = { interval: 100 } as const;

interface Node {
  readonly cli: RunningCli;
  readonly url: string;
  /** Source address of its connections to servers and Sentinels. */
  readonly address: string;
}

/** Starts a gateway in its own process, on a recorded market at 200 times its speed. */
async function startNode(cluster: string, address: string): Promise<Node> {
  const program = [
    "--import",
    "./test/scale/cluster/call-from.ts",
    process.env.BUNDLED_PROGRAM ?? "src/main.ts",
  ];
  const market = [...pumpedFlags(), "--warmup", "0"];
  const pace = ["--speed", "200", "--heartbeat", "1s"];
  const server = ["--port", "0", "--drain", "0", "--no-compression", "--log-level", "info"];
  const args = [...program, "serve", "--cluster", cluster, ...market, ...pace, ...server];
  const cli = spawnNode(args, { CALL_FROM: address });
  await cli.said("stdout", "\n");
  return { cli, address, url: /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "" };
}

describe.skipIf(!HAS_SENTINEL)("gateways with three servers and three Sentinels", () => {
  let servers: SentinelServers;
  let nodes: readonly [Node, Node];
  beforeAll(async () => {
    servers = await SentinelServers.start();
    const first = await startNode(servers.cluster, "127.1.2.1");
    nodes = [first, await startNode(servers.cluster, "127.1.2.2")];
  });
  afterAll(async () => {
    for (const { cli } of nodes ?? []) await cli[Symbol.asyncDispose]();
    await servers?.[Symbol.asyncDispose]();
  });

  /** Starts one client per group of nodes, which moves between them until `end` is called. */
  function follow(...groups: readonly (readonly Node[])[]) {
    const clients = groups.map(
      (group, index) => new HoppingClient(() => group.map(({ url }) => url), createChance(index + 1)),
    );
    const following = clients.map((client) => client.follow());
    const end = async () => {
      for (const client of clients) client.end();
      await Promise.all(following);
    };
    return { clients, end };
  }

  /** Resolves when the highest seq of the clients has grown by more than twenty. */
  async function moves(clients: readonly HoppingClient[]): Promise<void> {
    const seq = () => Math.max(...clients.map((client) => client.seq));
    const target = seq() + 20;
    await expect.poll(seq, WAIT).toBeGreaterThan(target);
  }

  /** Expects that each client has the log's events without a gap, and the state of every node. */
  async function expectNoGaps(clients: readonly HoppingClient[], resets: number): Promise<void> {
    const log = await eventsOnServer((await servers.primary()).directPort);
    for (const client of clients) {
      expect(client.trouble).toEqual([]);
      expect({ resets: client.resets, epochs: client.epochs.size }).toEqual({ resets, epochs: 1 });
      expectSameEvents(client, log);
      for (const { url } of nodes) {
        client.base = url;
        await client.connect();
        await expectOneState(url, client);
        await client.disconnect();
      }
    }
  }

  /** Starts a client on each node. Returns the nodes, clients and servers for a partition. */
  async function divide() {
    const { clients, end } = follow([nodes[0]], [nodes[1]]);
    for (const client of clients) await moves([client]);
    let at = -1;
    const findLeader = async () => {
      at = (await Promise.all(nodes.map(isLeading))).indexOf(true);
      return at;
    };
    // On a busy machine, the nodes may be choosing another one.
    await expect.poll(findLeader, WAIT).not.toBe(-1);
    const [leader, other] = at === 0 ? nodes : [nodes[1], nodes[0]];
    const [inside, outside] = at === 0 ? clients : clients.toReversed();
    if (!inside || !outside) throw new Error("no clients");
    const primary = await servers.primary();
    const [first, ...replicas] = servers.servers.toSorted(
      (one, two) => Number(two === primary) - Number(one === primary),
    );
    const [sentinel] = servers.sentinels;
    const [replica] = replicas;
    if (!first || !replica || !sentinel) throw new Error("no servers");
    return { leader, other, clients, inside, outside, end, primary, replica, sentinel };
  }

  test("[I2] a leader cut off with the primary delivers nothing that the new primary's log lacks, and then follows that log", async () => {
    const { leader, other, clients, inside, outside, end, primary, sentinel } = await divide();
    servers.relays.cut(leader.address, primary.address, sentinel.address);
    try {
      await expect.poll(() => isLeading(other), WAIT).toBe(true);
      await expect.poll(() => outside.seq > inside.seq, WAIT).toBe(true);
    } finally {
      servers.relays.heal();
    }
    await moves([inside]);
    await end();
    await expectNoGaps(clients, 1);
  });

  // In npm test, scenarios/cluster kills gateways and their server, and the test above cuts off the
  // primary.
  test.runIf(IS_SOAK || FAILOVERS > 1)(
    "[L3] continue on a replica when the primary is paused or killed: moving clients see each event of the log once, and no reset",
    {
      timeout: 600_000 + FAILOVERS * 60_000,
    },
    async () => {
      const { clients, end } = follow(nodes, nodes);
      const tookMs: number[] = [];
      for (let fault = 0; fault < FAILOVERS; fault++) {
        const isKill = fault % 2 === 1;
        await moves(clients);
        const primary = await servers.primary();
        const startedAt = performance.now();
        if (isKill) await primary.kill();
        else primary.signal("SIGSTOP");
        try {
          await servers.failedOver(primary);
          await moves(clients);
          tookMs.push(Math.round(performance.now() - startedAt));
        } finally {
          if (isKill) await primary.start();
          else primary.signal("SIGCONT");
        }
        await moves(clients);
      }
      process.stdout.write(`events again after the loss of the primary: ${tookMs.join(", ")} ms\n`);
      await end();
      await expectNoGaps(clients, 1);
    },
  );

  test.runIf(IS_SOAK || FAILOVERS > 1)(
    "[I2] a leader cut off with the primary and a replica continues, and then repairs the server that the other side promoted",
    async () => {
      await servers.settled();
      const { leader, clients, inside, outside, end, primary, replica, sentinel } = await divide();
      const sentinels = servers.sentinels.filter((one) => one !== sentinel);
      servers.relays.cut(leader.address, primary.address, replica.address, sentinel.address);
      try {
        await expect.poll(() => servers.primary(sentinels), WAIT).not.toBe(primary);
        await moves([inside]);
        await expect.poll(() => inside.seq > outside.seq, WAIT).toBe(true);
        expect(await isLeading(leader)).toBe(true);
      } finally {
        servers.relays.heal();
      }
      await servers.failedOver(primary);
      await moves([inside]);
      await moves([outside]);
      await end();
      await expectNoGaps(clients, 1);
    },
  );
});

async function isLeading({ url }: Node): Promise<boolean> {
  return (await (await fetch(`${url}/metrics`)).text()).includes("\nflarewire_cluster_leader 1\n");
}
