import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { ClusterNode } from "../../../src/scale/cluster/cluster-node.ts";
import type { AppendResult } from "../../../src/scale/cluster/effect.ts";
import type { Engine, LogNews } from "../../../src/scale/cluster/engine.ts";
import { type Entry, LOG_START } from "../../../src/scale/cluster/entry.ts";
import { seal } from "../../../src/scale/cluster/entry-text.ts";
import { RedisEngine } from "../../../src/scale/cluster/redis/redis-engine.ts";
import { HAS_REDIS, type RedisServer } from "./redis-servers.ts";
import { SILENT_ENGINE } from "./silent-engine.ts";
import { endAfterEach, startServer } from "./started-servers.ts";

/** A node that appends numbered batches while it leads, and the entries that it delivered. */
interface Running {
  readonly node: ClusterNode;
  readonly delivered: Entry[];
  isLeading: boolean;
  stop(): void;
}

const ends = endAfterEach();

const HEADER = { term: 1, by: "fast", nonce: "", epoch: "e1" } as const;

let batches = 0;

function startNode({ port }: RedisServer, id: string): Running {
  const engine = new RedisEngine({
    connection: { host: "127.0.0.1", port },
    name: "test",
    acknowledgements: 0,
    retained: 1_000,
    clock: systemClock,
    notify: () => {},
  });
  const delivered: Entry[] = [];
  const node = new ClusterNode({
    engine,
    id,
    clock: systemClock,
    onDeliver: (entries) => delivered.push(...entries),
    onLead: () => {
      running.isLeading = true;
    },
    onFollow: () => {
      running.isLeading = false;
    },
    onUnreadable: () => {},
  });
  let isPending = false;
  const stopAppending = systemClock.every(20, () => {
    if (node.member.canAppend && !isPending) {
      isPending = true;
      const over = () => {
        isPending = false;
      };
      node.append(Buffer.from(`batch ${++batches}`)).then(over, over);
    }
  });
  const running: Running = {
    node,
    delivered,
    isLeading: false,
    stop: () => {
      stopAppending();
      node.close();
      void engine.close();
    },
  };
  ends.push(running.stop);
  return running;
}

const hasLeader = (nodes: readonly Running[]) =>
  expect.poll(() => nodes.find(({ isLeading }) => isLeading)).toBeDefined();

/** Expects that each node's entries are the first entries of the node with the most. */
function expectOneHistory(nodes: readonly Running[]): void {
  const [longest = []] = nodes.map(({ delivered }) => delivered).toSorted((a, b) => b.length - a.length);
  expect(longest.map(({ offset }) => offset)).toEqual(longest.map((_, index) => index + 1));
  const terms = longest.map(({ header }) => header.term);
  expect(terms).toEqual(terms.toSorted((a, b) => a - b));
  expect(new Set(longest.map(({ header }) => header.epoch)).size).toBe(1);
  for (const { delivered } of nodes)
    expect(delivered.map(({ hash }) => hash)).toEqual(
      longest.slice(0, delivered.length).map(({ hash }) => hash),
    );
}

const allDeliver = (nodes: readonly Running[], more: number) => {
  const counts = nodes.map(({ delivered }) => delivered.length + more);
  return expect
    .poll(() => nodes.every(({ delivered }, index) => delivered.length >= (counts[index] ?? 0)))
    .toBe(true);
};

test("a node that loses the race to append an entry reports no repair", async () => {
  const repairs: Entry[] = [];
  let reads = 0;
  const tried = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<AppendResult>();
  const base = seal(1, { ...HEADER, kind: "base", prev: "", committed: 0 }, Buffer.alloc(0));
  const next = seal(2, { ...HEADER, kind: "alive", prev: base.hash, committed: 1 }, Buffer.alloc(0));
  const engine: Engine = {
    ...SILENT_ENGINE,
    append: () => {
      tried.resolve();
      return answer.promise;
    },
    async *read(from, signal): AsyncGenerator<LogNews> {
      reads += 1;
      yield { kind: "idle", head: LOG_START, isWritable: true };
      await tried.promise;
      for (const entry of [base, next]) if (entry.offset >= from) yield { kind: "entry", entry };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  };
  const node = new ClusterNode({
    engine,
    id: "slow",
    clock: systemClock,
    random: () => 0,
    onDeliver: () => {},
    onLead: () => {},
    onFollow: () => {},
    onUnreadable: () => {},
    onRepair: (entry) => repairs.push(entry),
  });
  ends.push(() => node.close());
  await expect.poll(() => node.member.delivered.offset).toBe(1);
  answer.resolve({ kind: "fenced" });
  await expect.poll(() => reads).toBe(2);
  expect(repairs).toEqual([]);
});

describe.skipIf(!HAS_REDIS)("nodes on a Redis server", () => {
  test("[I3] keep one history when two leaders stop, one after the other", async () => {
    const server = await startServer(ends);
    const nodes = ["a", "b", "c"].map((id) => startNode(server, id));
    await allDeliver(nodes, 20);
    let alive = nodes;
    for (let stops = 0; stops < 2; stops++) {
      await hasLeader(alive);
      const leader = alive.find(({ isLeading }) => isLeading);
      leader?.stop();
      alive = alive.filter((one) => one !== leader);
      await allDeliver(alive, 20);
    }
    const late = startNode(server, "late");
    await allDeliver([late], 60);
    expectOneHistory([...nodes, late]);
    const [last] = alive;
    // On a busy machine, nodes may elect another leader before one stops.
    expect(last?.node.member.term).toBeGreaterThanOrEqual(3);
  });

  test("[I3] keep one history when the server is killed and restarted, and then paused", async () => {
    const server = await startServer(ends);
    const nodes = ["a", "b"].map((id) => startNode(server, id));
    await allDeliver(nodes, 20);
    await server.kill();
    await server.start();
    await allDeliver(nodes, 20);
    server.signal("SIGSTOP");
    await expect.poll(() => nodes.some(({ node }) => node.member.canAppend)).toBe(false);
    server.signal("SIGCONT");
    await allDeliver(nodes, 20);
    expectOneHistory(nodes);
  });

  test("begin a new epoch on an empty server", async () => {
    const server = await startServer(ends);
    const nodes = ["a", "b"].map((id) => startNode(server, id));
    await allDeliver(nodes, 20);
    const before = nodes[0]?.delivered.at(-1)?.header.epoch;
    for (const one of nodes) one.stop();
    await server.dispose();
    const other = await startServer(ends);
    const next = ["c", "d"].map((id) => startNode(other, id));
    await allDeliver(next, 5);
    expect(next[0]?.delivered.at(-1)?.header.epoch).not.toBe(before);
    expectOneHistory(next);
  });
});
