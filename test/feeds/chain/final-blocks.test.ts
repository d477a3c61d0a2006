import { describe, expect } from "vitest";
import { finalBlocks } from "../../../src/feeds/chain/final-blocks.ts";
import { BlockReader } from "../../../src/feeds/chain/rpc/block-reader.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { test } from "../../support/time/still-running.ts";
import { settle, until } from "../exchange/scripted-venue.ts";
import { NodePool } from "./nodes/node-pool.ts";
import { BROKEN, BUSY, hashOn, ScriptedNode } from "./nodes/scripted-node.ts";

const FINALITY = 2;
/** Pauses after consecutive failures, at half of the jitter. */
const WAITS = [187, 312, 562, 1_062, 2_062, 4_062, 7_562, 7_562];

/**
 * Reads final blocks from several nodes. Lists each published block as its branch and number, with
 * `!` if it replaces one.
 */
async function follow(from: number, count = 1) {
  const nodes = await Promise.all(Array.from({ length: count }, () => new ScriptedNode().listen()));
  const run = new NodePool(nodes);
  await until("all nodes are usable", () => run.pool.usable(0).length === nodes.length);
  const { pool, clock, notify, signal, notices } = run;
  const reader = new BlockReader({ pool, clock, notify });
  const published: string[] = [];
  const reading = (async () => {
    const options = { pool, reader, clock, random: () => 0.5, from, notify };
    for await (const { block, isReplacement } of finalBlocks(options, signal)) {
      expect(block.hash).toBe(hashOn(block.hash.charAt(2), block.number));
      published.push(`${block.hash.charAt(2)}${block.number}${isReplacement ? "!" : ""}`);
    }
  })().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  /** Advances the clock until the condition holds. */
  const passUntil = async (description: string, holds: () => boolean) => {
    for (let step = 0; step < 2_000 && !holds(); step++) {
      clock.advance(125);
      await settle();
    }
    if (!holds())
      throw new Error(`never happened: ${description}; published ${published.slice(-9)}, ${notices}`);
  };
  const set = (change: Partial<Pick<ScriptedNode, "head" | "branchAt" | "answer">>) => {
    for (const node of nodes) Object.assign(node, change);
  };
  return {
    nodes,
    run,
    published,
    notices,
    clock,
    set,
    passUntil,
    /** Advances time until the block of that number is published. */
    reached: (number: number) =>
      passUntil(`block ${number} arrives`, () => Number(/\d+/.exec(published.at(-1) ?? "")?.[0]) >= number),
    [Symbol.asyncDispose]: async () => {
      await run[Symbol.asyncDispose]();
      await reading.finally(() => Promise.all(nodes.map((node) => node[Symbol.asyncDispose]())));
    },
  };
}

const onA = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `a${from + index}`);
const troubles = (notices: readonly string[]) =>
  notices.filter((one) => /^(no block|blocks|resuming)/.test(one));

describe("the blocks of a chain", () => {
  test("cannot be invented by one of two endpoints that reports more of them than the other", async () => {
    await using run = await follow(90, 2);
    const [liar, honest] = run.nodes;
    if (!liar || !honest) throw new Error("no nodes");
    await run.reached(98);
    Object.assign(liar, { head: 130, branchAt: (number: number) => (number > 100 ? "b" : "a") });
    for (let count = 0; count < 8; count++) await run.run.look();
    expect(run.published).toEqual(onA(90, 100));
    Object.assign(liar, { head: 104, branchAt: () => "a" });
    honest.head = 104;
    await run.reached(102);
    expect(run.published).toEqual(onA(90, 102));
  });

  test("are published once, in order, when they are two blocks below the head, and not requested before", async () => {
    await using run = await follow(80);
    await run.reached(98);
    for (let count = 0; count < 8; count++) await run.run.look();
    expect([run.published, run.notices]).toEqual([onA(80, 98), []]);
    expect(run.nodes[0]?.count("eth_getBlockReceipts")).toBe(19);
    run.set({ head: 103 });
    await run.reached(101);
    expect([run.published, run.notices]).toEqual([onA(80, 101), []]);
  });

  test("are awaited longer with each failure, up to 15 s; failure and resumption are reported once each time", async () => {
    await using run = await follow(80);
    const { clock, notices } = run;
    for (const [round, number] of [98, 101].entries()) {
      await run.reached(number);
      run.set({
        head: number + FINALITY + 3,
        answer: (method) => (method === "eth_getBlockReceipts" ? BROKEN : undefined),
      });
      const before = clock.slept.length;
      const waits = () => clock.slept.slice(before).filter((ms) => WAITS.includes(ms));
      await run.passUntil("ten attempts fail", () => waits().length > 10);
      expect(waits().slice(0, WAITS.length)).toEqual(WAITS);
      expect(troubles(notices)).toHaveLength(2 * round + 1);
      expect(troubles(notices).at(-1)).toMatch(/^no block is available: /);
      run.set({ answer: undefined });
      await run.reached(number + 3);
      expect(troubles(notices).slice(2 * round + 1)).toEqual([`resuming at block ${number + 1}`]);
    }
    expect(run.published).toEqual(onA(80, 104));
  });

  test("are read from one endpoint again after a failure or a dispute", async () => {
    await using run = await follow(97, 2);
    await run.reached(98);
    const receipts = () => run.nodes.reduce((sum, node) => sum + node.count("eth_getBlockReceipts"), 0);
    const troublesome = [
      () => run.set({ answer: (method) => (method === "eth_getBlockReceipts" ? BROKEN : undefined) }),
      () => run.set({ branchAt: (number) => (number >= 98 ? "b" : "a") }),
    ];
    for (const [round, begin] of troublesome.entries()) {
      const next = 99 + 8 * round;
      begin();
      const before = receipts();
      run.set({ head: next + FINALITY });
      await run.passUntil("all nodes are queried", () => receipts() >= before + 3);
      run.set({ answer: undefined, branchAt: () => "a" });
      await run.reached(next);
      await run.run.look();
      const settled = receipts();
      run.set({ head: next + FINALITY + 7 });
      await run.reached(next + 7);
      expect(receipts() - settled).toBe(7);
    }
    expect(run.published).toEqual(onA(97, 114));
  });

  test("that were read ahead are read again after a dispute", async () => {
    await using run = await follow(90, 2);
    await run.reached(98);
    const [liar, honest] = run.nodes;
    if (!liar || !honest) throw new Error("no nodes");
    // The honest node is rate-limited at first. The false 100 then follows the true 99.
    let reads = 0;
    liar.answer = (method, [id]) => {
      if (method !== "eth_getBlockByNumber") return undefined;
      const number = Number(id);
      if (number === 99) reads += 1;
      const parentHash = hashOn(number === 99 ? "b" : "a", number - 1);
      return { result: { ...liar.headerOf(number), hash: hashOn("b", number), parentHash } };
    };
    honest.answer = (method) => (method === "eth_getBlockByNumber" ? BUSY : undefined);
    run.set({ head: 102 });
    await run.passUntil("99 is read and then checked", () => reads >= 2);
    honest.answer = undefined;
    await run.reached(100);
    expect(run.published).toEqual(onA(90, 100));
  });
});

describe("the reason why there is no next block", () => {
  const trouble = (run: { readonly run: NodePool }) => run.run.pool.trouble("test");

  test("is shown until there is one, and reported once, although endpoints respond", async () => {
    await using run = await follow(90, 2);
    await run.reached(98);
    expect(trouble(run)).toBeUndefined();
    const quota = { error: { code: -32_005, message: "limit exceeded" } };
    run.set({ head: 103, answer: (method) => (method === "eth_getBlockReceipts" ? quota : undefined) });
    await run.passUntil("the reason is shown", () => trouble(run) !== undefined);
    expect(trouble(run)).toMatch(
      /^no block is available: no endpoint has block 99: 127\S+ refuses requests because there are too many \(-32005\)$/,
    );
    for (let count = 0; count < 60; count++) await run.run.look();
    expect(troubles(run.notices)).toHaveLength(1);
    run.set({ answer: undefined });
    await run.reached(101);
    expect(trouble(run)).toBeUndefined();
  });

  test("is no failure while endpoints lack the block, and is shown each time that it is overdue", async () => {
    await using run = await follow(90, 2);
    await run.reached(98);
    for (const [round, number] of [99, 102].entries()) {
      const lacks = `0x${number.toString(16)}`;
      run.set({ head: number + 4, answer: (_method, [id]) => (id === lacks ? { result: null } : undefined) });
      for (let count = 0; count < 5; count++) await run.run.look();
      expect([trouble(run), run.notices.length]).toEqual([undefined, round]);
      await run.passUntil("the reason is shown", () => trouble(run) !== undefined);
      expect(trouble(run)).toMatch(new RegExp(`^no block is available: 127\\S+ has no block ${number}$`));
      for (let count = 0; count < 60; count++) await run.run.look();
      expect(run.notices).toHaveLength(round + 1);
      run.set({ answer: undefined });
      await run.reached(number + 2);
      expect(trouble(run)).toBeUndefined();
    }
  });

  test("is not sought at an endpoint that refuses blocks as long as another one returns them", async () => {
    await using run = await follow(90, 2);
    await run.reached(98);
    const [refusing, other] = run.nodes;
    if (!refusing || !other) throw new Error("no nodes");
    const quota = { error: { code: -32_005, message: "limit exceeded" } };
    refusing.answer = (method) => (method === "eth_getBlockReceipts" ? quota : undefined);
    const before = refusing.count("eth_getBlockReceipts");
    for (let head = 101; head <= 140; head++) {
      run.set({ head });
      await run.reached(head - FINALITY);
    }
    expect(refusing.count("eth_getBlockReceipts") - before).toBeLessThanOrEqual(3);
  });
});

describe("replaced final blocks", () => {
  test("are published again from the first difference, in order and marked, before later ones follow", async () => {
    await using run = await follow(90);
    await run.reached(98);
    run.set({ head: 101, branchAt: (number) => (number >= 95 ? "b" : "a") });
    await run.reached(99);
    const first = ["b95!", "b96!", "b97!", "b98!", "b99"];
    expect(run.published).toEqual([...onA(90, 98), ...first]);
    run.set({ head: 103, branchAt: (number) => (number >= 99 ? "c" : number >= 95 ? "b" : "a") });
    await run.reached(101);
    expect(run.published).toEqual([...onA(90, 98), ...first, "c99!", "c100", "c101"]);
    expect(troubles(run.notices)).toEqual([
      "blocks 95 to 98 were final but have been replaced; published events remain",
      "blocks 99 to 99 were final but have been replaced; published events remain",
    ]);
  });

  test("are published only after three attempts; a node that returns to the old chain replaces nothing", async () => {
    await using run = await follow(90);
    await run.reached(98);
    for (const next of [99, 101]) {
      const reads = () => run.nodes[0]?.count("eth_getBlockReceipts") ?? 0;
      const before = reads();
      run.set({ head: next + FINALITY, branchAt: (number) => (number >= 95 ? "b" : "a") });
      // Read once, then checked twice.
      await run.passUntil("the block is checked twice", () => reads() >= before + 3);
      run.set({ branchAt: () => "a" });
      await run.reached(next);
    }
    expect(run.published).toEqual(onA(90, 101));
    expect(troubles(run.notices)).toEqual([]);
  });

  test.runIf(IS_SOAK)(
    "are found up to 512 blocks back: after a deeper change, reading continues there",
    async () => {
      await using run = await follow(1);
      run.set({ head: 520 + FINALITY });
      await run.reached(520);
      run.set({ head: 521 + FINALITY, branchAt: () => "b" });
      await run.reached(521);
      expect(run.published.slice(520)).toEqual([
        ...Array.from({ length: 512 }, (_, index) => `b${9 + index}!`),
        "b521",
      ]);
    },
  );
});
