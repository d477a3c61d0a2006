import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { ClusterNode, NotLeading } from "../../../src/scale/cluster/cluster-node.ts";
import type { AppendResult } from "../../../src/scale/cluster/effect.ts";
import type { Engine, LogNews } from "../../../src/scale/cluster/engine.ts";
import { type Entry, LOG_START, type MemberStart } from "../../../src/scale/cluster/entry.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { SILENT_ENGINE } from "./silent-engine.ts";

/** Lets everything run that waits for promises alone. */
const settled = async () => {
  for (let count = 0; count < 10; count++) await turn();
};

/** An engine in memory, whose log the test can read and whose answers it can change. */
function memoryEngine(clock: ManualClock) {
  const state = {
    log: [] as Entry[],
    isWritable: true,
    error: undefined as Error | undefined,
    reads: [] as number[],
    isClosed: false,
    answer: (entry: Entry): AppendResult | Promise<AppendResult> => {
      const head = state.log.at(-1) ?? LOG_START;
      if (entry.header.prev !== head.hash) return { kind: "fenced" };
      state.log.push(entry);
      return { kind: "appended" };
    },
  };
  const engine: Engine = {
    ...SILENT_ENGINE,
    append: async (entry) => state.answer(entry),
    close: async () => {
      state.isClosed = true;
    },
    async *read(from, signal): AsyncGenerator<LogNews> {
      state.reads.push(clock.monotonic());
      let next = from;
      while (!signal.aborted) {
        if (state.error) throw state.error;
        for (const entry of state.log.filter(({ offset }) => offset >= next)) {
          next = entry.offset + 1;
          yield { kind: "entry", entry };
        }
        yield { kind: "idle", head: state.log.at(-1) ?? LOG_START, isWritable: state.isWritable };
        await clock.sleep(100, signal).catch(() => undefined);
      }
    },
  };
  return { state, engine };
}

/** Runs a node with this engine. `told`: what it reported. */
interface Parts {
  readonly start?: MemberStart;
  readonly onReload?: () => Promise<MemberStart | undefined>;
  /** Changes the engine before the node reads it. */
  readonly prepare?: (state: ReturnType<typeof memoryEngine>["state"]) => void;
}

function run({ prepare = () => undefined, ...parts }: Parts = {}) {
  const clock = new ManualClock();
  const { state, engine } = memoryEngine(clock);
  prepare(state);
  const told: string[] = [];
  const node = new ClusterNode({
    ...parts,
    engine,
    clock,
    id: "self",
    random: () => 0,
    onDeliver: (entries) => told.push(...entries.map(({ header }) => `deliver ${header.kind}`)),
    onLead: ({ term, isNewEpoch }) => told.push(`lead ${term}${isNewEpoch ? " in a new epoch" : ""}`),
    onFollow: () => told.push("follow"),
    onUnreadable: (error) => told.push(error instanceof Error ? `unreadable ${error.message}` : "readable"),
  });
  const pass = async (ms: number) => {
    await settled();
    for (let left = ms; left > 0; left -= 50) {
      clock.advance(50);
      await settled();
    }
  };
  const kinds = () => state.log.map(({ header }) => header.kind);
  return { clock, state, node, told, pass, kinds, [Symbol.dispose]: () => node.close() };
}

test("a node that sees only a server without write access never tries to lead there, however long it is silent", async () => {
  using cluster = run({ prepare: (state) => Object.assign(state, { isWritable: false }) });
  await cluster.pass(30_000);
  expect([cluster.kinds(), cluster.node.member.role, cluster.node.hasCaughtUp]).toEqual([
    [],
    "follower",
    true,
  ]);
  cluster.state.isWritable = true;
  await cluster.pass(300);
  expect([cluster.kinds(), cluster.node.member.role]).toEqual([["base", "alive"], "leader"]);
  expect(cluster.told.filter((one) => one !== "readable")).toEqual([
    "deliver base",
    "lead 1 in a new epoch",
    "deliver alive",
  ]);
});

test("a leader without events writes a sign of life each second, and none within a second of a batch", async () => {
  using cluster = run();
  await cluster.pass(300);
  const from = cluster.state.log.length;
  await cluster.pass(3_000);
  expect(cluster.kinds().slice(from)).toEqual(["alive", "alive", "alive"]);
  for (let count = 0; count < 4; count++) {
    await cluster.node.append(Buffer.from("x"));
    await cluster.pass(800);
  }
  expect(cluster.kinds().slice(from + 3)).toEqual(Array(4).fill("batch"));
});

test("a node that resigns hands over, and does not lead again for ten seconds", async () => {
  using cluster = run();
  await cluster.pass(300);
  await cluster.node.resign();
  const length = cluster.state.log.length;
  expect([cluster.kinds().at(-1), cluster.node.member.role, cluster.told.at(-1)]).toEqual([
    "handover",
    "follower",
    "follow",
  ]);
  await cluster.pass(9_900);
  expect(cluster.state.log).toHaveLength(length);
  await cluster.pass(500);
  expect([cluster.kinds().slice(length), cluster.node.member.term]).toEqual([["term"], 2]);
});

test("a leader that stops hands over and closes the engine, after a second at most", async () => {
  for (const isSilent of [false, true]) {
    using cluster = run();
    await cluster.pass(300);
    if (isSilent) cluster.state.answer = () => new Promise(() => undefined);
    const stopping = cluster.node.stop();
    await cluster.pass(isSilent ? 950 : 0);
    expect(cluster.state.isClosed).toBe(!isSilent);
    await cluster.pass(50);
    await stopping;
    expect([cluster.kinds().at(-1), cluster.state.isClosed]).toEqual([isSilent ? "alive" : "handover", true]);
  }
});

test("an entry that cannot be read is tried again each second, and the log is readable once its end was read", async () => {
  const error = new Error("a later version");
  using cluster = run({ prepare: (state) => Object.assign(state, { error, isWritable: false }) });
  await cluster.pass(2_500);
  expect(cluster.told).toEqual([
    "unreadable a later version",
    "unreadable a later version",
    "unreadable a later version",
  ]);
  expect(cluster.state.reads).toEqual([0, 1_000, 2_000]);
  cluster.state.error = undefined;
  await cluster.pass(500);
  expect(cluster.told.slice(3)).toContain("readable");
});

test("a batch waits for its delivery, and is given up when the node stops leading or begins a new epoch", async () => {
  using cluster = run();
  await expect(cluster.node.append(Buffer.from("early"))).rejects.toThrow(NotLeading);
  await cluster.pass(300);
  const first = cluster.node.append(Buffer.from("1"));
  await expect(cluster.node.append(Buffer.from("2"))).rejects.toThrow(
    "the previous batch is not delivered yet",
  );
  await first;
  expect(cluster.told.at(-1)).toBe("deliver batch");
  cluster.node.renew();
  await settled();
  expect(cluster.told.slice(-2)).toEqual(["deliver base", "lead 1 in a new epoch"]);
  cluster.state.answer = () => ({ kind: "fenced" });
  await expect(cluster.node.append(Buffer.from("3"))).rejects.toThrow(NotLeading);
  expect([cluster.told.at(-1), cluster.node.member.role]).toEqual(["follow", "follower"]);
});

test("the age of the engine's last answer counts from the start, and from each answer on", async () => {
  const error = new Error("gone");
  using cluster = run({ prepare: (state) => Object.assign(state, { error, isWritable: false }) });
  await cluster.pass(700);
  expect(cluster.node.engineSilenceMs).toBe(700);
  cluster.state.error = undefined;
  await cluster.pass(400);
  expect(cluster.node.engineSilenceMs).toBeLessThan(100);
});

test("a node whose entries are gone loads the stored state, again after twelve seconds if there is none yet", async () => {
  const loads: number[] = [];
  let now = () => 0;
  const header = { term: 1, by: "b", nonce: "", epoch: "e1", committed: 0, kind: "alive" } as const;
  const entry = (offset: number): Entry => ({
    offset,
    hash: `h${offset}`,
    header: { ...header, prev: `h${offset - 1}` },
    body: Buffer.alloc(0),
  });
  using cluster = run({
    start: { position: { offset: 3, hash: "h3" }, epoch: "e1", term: 1 },
    // The log begins with a later entry than the one that follows the node's own.
    prepare: (state) =>
      Object.assign(state, {
        log: [entry(9), entry(10)],
        isWritable: true,
        answer: () => new Promise(() => undefined),
      }),
    onReload: async () => {
      loads.push(now());
      return undefined;
    },
  });
  now = () => cluster.clock.monotonic();
  await cluster.pass(12_500);
  expect(loads[0]).toBeLessThan(1_000);
  expect(loads.slice(1, 2).map((ms) => ms - (loads[0] ?? 0))).toEqual([
    expect.toSatisfy((ms: number) => ms >= 12_000 && ms < 12_500),
  ]);
});
