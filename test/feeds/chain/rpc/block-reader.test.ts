import { describe, expect } from "vitest";
import { HOUR_MS } from "../../../../src/base/lib/time/time.ts";
import { BlockReader } from "../../../../src/feeds/chain/rpc/block-reader.ts";
import { test } from "../../../support/time/still-running.ts";
import { settle, until } from "../../exchange/scripted-venue.ts";
import { NodePool } from "../nodes/node-pool.ts";
import { BUSY, hashOn, ScriptedNode } from "../nodes/scripted-node.ts";

/** Starts one node per letter, which names the branch of its block 50, and a reader of all. */
async function nodesOn(branches: string) {
  const nodes = await Promise.all([...branches].map(() => new ScriptedNode().listen()));
  for (const [index, node] of nodes.entries())
    node.branchAt = (number) => (number === 50 ? branches.charAt(index) : "a");
  const run = new NodePool(nodes);
  await until("all nodes are usable", () => run.pool.usable(0).length === nodes.length);
  const { pool, clock, notify } = run;
  const reader = new BlockReader({ pool, clock, notify });
  return {
    nodes,
    run,
    reader,
    read: (number: number) => reader.read(number, run.signal),
    readMostCommon: (parent?: string) => reader.readMostCommon(50, parent, run.signal),
    /** Lets these nodes take three seconds for one answer. */
    slowDown: async (indices: readonly number[]) => {
      const answer = silence(indices);
      run.clock.advance(1_000);
      await settle();
      run.clock.advance(3_000);
      answer();
      await settle();
      await run.look();
    },
    silence,
    /** Advances the clock until the promise settles. */
    passing: async <T>(promise: Promise<T>): Promise<T> => {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      promise.then(end, end);
      while (!isOver) {
        run.clock.advance(250);
        await settle();
      }
      return await promise;
    },
    /** Indices of the nodes that rest after a failure. */
    resting: () => nodes.flatMap((_, index) => (isUsable(index) ? [] : [index])),
    [Symbol.asyncDispose]: async () => {
      await run[Symbol.asyncDispose]();
      for (const node of nodes) await node[Symbol.asyncDispose]();
    },
  };
  /** Holds the answers of these nodes until the returned function is called. */
  function silence(indices: readonly number[]): () => void {
    const gate = Promise.withResolvers<undefined>();
    for (const index of indices) Object.assign(nodes[index] ?? {}, { answer: () => gate.promise });
    return () => gate.resolve(undefined);
  }
  function isUsable(index: number): boolean {
    const [host] = (nodes[index]?.url ?? "").split("//").slice(1);
    return pool.usable(0).some(({ name }) => name === host);
  }
}

describe("a block that is read", () => {
  test("comes from the first endpoint if a second one has the same block", async () => {
    await using run = await nodesOn("aa");
    expect(await run.read(50)).toEqual({
      number: 50,
      hash: hashOn("a", 50),
      parentHash: hashOn("a", 49),
      atMs: 1_700_000_050_000,
      logs: [],
    });
    expect(run.nodes.map((node) => node.count("eth_getBlockReceipts"))).toEqual([1, 0]);
    expect(run.nodes.map((node) => node.count("eth_getBlockByNumber"))).toEqual([1, 1]);
  });

  test("is rejected if a second endpoint has another block, and accepted if no second endpoint responds", async () => {
    await using run = await nodesOn("ab");
    await expect(run.read(50)).rejects.toThrow("endpoints disagree on block 50");
    const [, other] = run.nodes;
    if (other) other.answer = () => BUSY;
    expect((await run.read(50)).hash).toBe(hashOn("a", 50));
    expect(run.run.notices).toEqual([]);
  });

  test("is compared with a second endpoint's even if that one has not reported it as final yet", async () => {
    await using run = await nodesOn("ab");
    const [, other] = run.nodes;
    if (!other) throw new Error("no second node");
    other.finality = 60;
    await run.run.look();
    await expect(run.read(50)).rejects.toThrow("endpoints disagree on block 50");
  });

  test("is not accepted from one endpoint while a second one that follows the chain lacks it", async () => {
    await using run = await nodesOn("ab");
    const [, other] = run.nodes;
    if (!other) throw new Error("no second node");
    other.finality = 60;
    other.answer = (_method, [id]) => (id === "0x32" ? { result: null } : undefined);
    await run.run.look();
    await expect(run.read(50)).rejects.toMatchObject({ kind: "pending" });
    await expect(run.readMostCommon()).rejects.toMatchObject({ kind: "pending" });
    // Lacking the block is not a failure. An endpoint that stands still does not delay the feed.
    run.run.clock.advance(30_001);
    expect((await run.read(50)).hash).toBe(hashOn("a", 50));
    expect([run.resting(), run.run.notices]).toEqual([[], []]);
  });

  test("is not accepted from one endpoint while any other one that follows the chain lacks it, in whatever order they are asked", async () => {
    for (const behind of [1, 2]) {
      await using run = await nodesOn("aaa");
      for (const [index, node] of run.nodes.entries()) {
        if (index === 0) continue;
        // Of the two that lack the block, one is in step, and the other thirty blocks behind.
        node.finality = index === behind ? 80 : 60;
        node.answer = (_method, [id]) => (id === "0x32" ? { result: null } : undefined);
      }
      await run.run.look();
      await expect(run.read(50), `node ${behind} is behind`).rejects.toMatchObject({ kind: "pending" });
    }
  });

  test("is compared with a third endpoint's if the second one does not respond", async () => {
    await using run = await nodesOn("aab");
    for (const node of run.nodes.slice(1, 2)) node.answer = () => BUSY;
    await expect(run.read(50)).rejects.toThrow("endpoints disagree on block 50");
  });

  test("is compared with an endpoint that was slow before, if no other host is left", async () => {
    await using run = await nodesOn("abb");
    await run.slowDown([1, 2]);
    await expect(run.read(50)).rejects.toThrow("endpoints disagree on block 50");
  });

  test("is pending while several other hosts are silent, for ten seconds", async () => {
    await using run = await nodesOn("aaa");
    const answer = run.silence([1, 2]);
    await expect(run.passing(run.read(50))).rejects.toMatchObject({ kind: "pending" });
    run.run.clock.advance(10_000);
    expect((await run.passing(run.read(50))).hash).toBe(hashOn("a", 50));
    // The pool would end only when its open requests time out.
    answer();
  });

  test("is not awaited from a single silent host again for a minute, whose late difference is a dispute", async () => {
    await using run = await nodesOn("ab");
    const answer = run.silence([1]);
    expect((await run.passing(run.read(50))).hash).toBe(hashOn("a", 50));
    expect((await run.read(49)).hash).toBe(hashOn("a", 49));
    answer();
    let isNoticed = false;
    const notice = () => {
      isNoticed = true;
    };
    await until("the difference is noticed", () => {
      run.read(48).catch(notice);
      return isNoticed;
    });
    await expect(run.read(48)).rejects.toThrow("endpoints disagree on block 48");
    // The second node returns to the branch of the first.
    for (const node of run.nodes) node.branchAt = () => "a";
    run.run.clock.advance(60_000);
    expect((await run.passing(run.readMostCommon()))?.hash).toBe(hashOn("a", 50));
    expect((await run.passing(run.read(47))).hash).toBe(hashOn("a", 47));
  });

  test("is not requested before an endpoint reports it as final", async () => {
    await using run = await nodesOn("aa");
    expect((await run.read(98)).number).toBe(98);
    await expect(run.read(99)).rejects.toThrow("no endpoint has block 99");
    expect(run.nodes.map((node) => node.count("eth_getBlockReceipts"))).toEqual([1, 0]);
  });

  test("may be dated at most an hour ahead of this machine's clock", async () => {
    await using run = await nodesOn("a");
    const [node] = run.nodes;
    if (!node) throw new Error("no node");
    const now = run.run.clock.now();
    node.secondAt = () => (now + HOUR_MS) / 1_000;
    expect((await run.read(50)).atMs).toBe(now + HOUR_MS);
    node.secondAt = () => (now + HOUR_MS) / 1_000 + 1;
    await expect(run.read(50)).rejects.toThrow(/with a future time/);
    expect([run.resting(), run.run.notices]).toEqual([
      [0],
      [expect.stringMatching(/^returned block 50 with a future time, .*; check this machine's clock$/)],
    ]);
  });

  test("must match its header's receipts and the requested number", async () => {
    await using run = await nodesOn("a");
    const [node] = run.nodes;
    if (!node) throw new Error("no node");
    const serve = (change: object) => {
      node.answer = (method) =>
        method === "eth_getBlockByNumber" ? { result: { ...node.headerOf(50), ...change } } : undefined;
    };
    serve({ receiptsRoot: hashOn("f", 1) });
    await expect(run.read(50)).rejects.toThrow("logs of block 50 that do not match its header");
    run.run.clock.advance(60_000);
    serve({ number: "0x31" });
    await expect(run.read(50)).rejects.toThrow("returned block 49 instead of block 50");
    run.run.clock.advance(60_000);
    serve({ timestamp: "yesterday" });
    await expect(run.read(50)).rejects.toThrow("returned an invalid block 50");
  });

  test("that is invalid counts as a failure of its endpoint, but a rate limit does not", async () => {
    await using run = await nodesOn("a");
    const [node] = run.nodes;
    if (!node) throw new Error("no node");
    node.answer = () => BUSY;
    await expect(run.read(50)).rejects.toMatchObject({ kind: "rate" });
    expect([run.resting(), run.run.notices]).toEqual([[], []]);
    node.answer = () => ({ result: "nonsense" });
    run.run.clock.advance(100);
    const read = run.read(50);
    const refused = expect(read).rejects.toThrow("returned an invalid block 50");
    await until("the endpoint rests", () => run.resting().length === 1);
    await refused;
    expect(run.run.notices).toEqual(["returned an invalid block 50"]);
  });
});

describe("a block on which the majority of endpoints decides", () => {
  test.each([
    ["aab", "a"],
    ["baa", "a"],
    ["bab", "b"],
    ["aabbb", "b"],
    ["a", "a"],
  ])(
    "is the majority's: of branches %s it is %s, and the other endpoints are reported and rest",
    async (branches, most) => {
      await using run = await nodesOn(branches);
      expect((await run.readMostCommon())?.hash).toBe(hashOn(most, 50));
      const wrong = [...branches].flatMap((branch, index) => (branch === most ? [] : [index]));
      expect(run.resting()).toEqual(wrong);
      expect(run.run.notices).toEqual(
        wrong.map(() => "returned block 50, which differs from that of most endpoints"),
      );
    },
  );

  test.each(["ab", "aabb", "abc"])(
    "is undecided without a majority: %s; no endpoint is blamed",
    async (branches) => {
      await using run = await nodesOn(branches);
      await expect(run.readMostCommon()).rejects.toThrow(
        "disagree on block 50, and no version is the most common",
      );
      expect([run.resting(), run.run.notices]).toEqual([[], []]);
    },
  );

  test("has the requested parent if as many endpoints have it as another one, and is undefined otherwise", async () => {
    await using run = await nodesOn("ab");
    const [other] = run.nodes;
    if (other) other.branchAt = () => "c";
    expect((await run.readMostCommon(hashOn("a", 49)))?.hash).toBe(hashOn("b", 50));
    expect(run.resting()).toEqual([0]);
    run.run.clock.advance(60_000);
    expect(await run.readMostCommon(hashOn("d", 49))).toBeUndefined();
    expect(run.resting()).toEqual([]);
  });

  test("is undefined if more endpoints have another parent than the requested one", async () => {
    await using run = await nodesOn("aab");
    for (const node of run.nodes.slice(0, 2)) node.branchAt = () => "c";
    expect(await run.readMostCommon(hashOn("a", 49))).toBeUndefined();
    expect([run.resting(), run.run.notices]).toEqual([[], []]);
  });

  test("is decided by an endpoint that answers late, if the others disagree", async () => {
    await using run = await nodesOn("bab");
    const [late] = run.nodes;
    if (!late) throw new Error("no node");
    const answer = run.silence([0]);
    const asked = () => run.nodes.map((node) => node.count("eth_getBlockReceipts"));
    const reading = run.readMostCommon();
    reading.catch(() => undefined);
    await until("all were asked", () => asked().every((count) => count === 1));
    for (let second = 0; second < 4; second++) {
      run.run.clock.advance(1_000);
      await settle();
    }
    answer();
    expect((await reading)?.hash).toBe(hashOn("b", 50));
    expect(run.resting()).toEqual([1]);
    // For a minute, the contradicted endpoint is neither asked first nor to confirm a block.
    late.answer = undefined;
    run.run.clock.advance(20_000);
    await run.run.look();
    const before = run.nodes[1]?.count("eth_getBlockByNumber");
    expect((await run.read(50)).hash).toBe(hashOn("b", 50));
    expect(run.nodes[1]?.count("eth_getBlockByNumber")).toBe(before);
  });

  test("is unavailable if no endpoint responds", async () => {
    await using run = await nodesOn("aa");
    for (const node of run.nodes) node.answer = () => ({ status: 500 });
    await expect(run.readMostCommon()).rejects.toThrow("no endpoint has block 50");
  });
});
