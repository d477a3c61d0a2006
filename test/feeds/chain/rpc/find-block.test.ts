import fc from "fast-check";
import { describe, expect } from "vitest";
import { findBlock } from "../../../../src/feeds/chain/rpc/find-block.ts";
import { test } from "../../../support/time/still-running.ts";
import { until } from "../../exchange/scripted-venue.ts";
import { NodePool } from "../nodes/node-pool.ts";
import { ScriptedNode } from "../nodes/scripted-node.ts";

describe("the first block at a moment", () => {
  test("is the first block at or after it, or the highest if all are earlier", async () => {
    await using node = await new ScriptedNode().listen();
    await using run = new NodePool([node]);
    await until("the node is usable", () => run.pool.usable(0).length === 1);
    const { pool, signal } = run;
    const gaps = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 400 });
    await fc.assert(
      fc.asyncProperty(gaps, fc.nat({ max: 900 }), async (seconds, at) => {
        let last = 0;
        const times = seconds.map((gap) => {
          last += gap;
          return last;
        });
        node.secondAt = (number) => times[number] ?? Number.NaN;
        const highest = times.length - 1;
        const { number: found } = await findBlock({ pool, highest }, () => at * 1_000, signal);
        const first = times.findIndex((second) => second >= at);
        expect(found).toBe(first < 0 ? highest : first);
      }),
      { numRuns: 60 },
    );
  });

  test("may depend on the highest block's time, and is rejected if a block is invalid", async () => {
    await using node = await new ScriptedNode().listen();
    await using run = new NodePool([node]);
    await until("the node is usable", () => run.pool.usable(0).length === 1);
    const { pool, signal } = run;
    const before = (highestAtMs: number) => highestAtMs - 7_000;
    expect((await findBlock({ pool, highest: 98 }, before, signal)).number).toBe(91);
    node.answer = () => ({ result: null });
    await expect(findBlock({ pool, highest: 98 }, before, signal)).rejects.toThrow(
      "returned an invalid block 98",
    );
  });

  test("must be confirmed by another host, or else is the earliest that a host returned", async () => {
    await using liar = await new ScriptedNode().listen();
    await using honest = await new ScriptedNode().listen();
    liar.secondAt = (number) => 1_700_000_000 + 9 * number;
    await using run = new NodePool([liar, honest]);
    await until("both nodes are usable", () => run.pool.usable(98).length === 2);
    const { pool, signal } = run;
    const search = () => findBlock({ pool, highest: 98 }, () => 1_700_000_060_000, signal);
    expect((await search()).number).toBe(7);
    await using third = await new ScriptedNode().listen();
    await using three = new NodePool([liar, honest, third]);
    await until("all nodes are usable", () => three.pool.usable(98).length === 3);
    const found = findBlock({ pool: three.pool, highest: 98 }, () => 1_700_000_060_000, three.signal);
    expect((await found).number).toBe(60);
  });
});
