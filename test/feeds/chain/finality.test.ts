import { describe, expect } from "vitest";
import { finalBlocks } from "../../../src/feeds/chain/final-blocks.ts";
import type { Finality } from "../../../src/feeds/chain/network.ts";
import { BlockReader } from "../../../src/feeds/chain/rpc/block-reader.ts";
import { Endpoint } from "../../../src/feeds/chain/rpc/endpoint.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test } from "../../support/time/still-running.ts";
import { until } from "../exchange/scripted-venue.ts";
import { NodePool } from "./nodes/node-pool.ts";
import { type Answer, BROKEN, BUSY, ScriptedNode } from "./nodes/scripted-node.ts";

const never = new AbortController().signal;
const MINUTE_MS = 60_000;

function endpointOf({ url }: ScriptedNode, finality: Finality = { finalityBlocks: 5 }) {
  const clock = new ManualClock();
  const onFinalHead = () => {};
  return { clock, endpoint: new Endpoint({ url, clock, timeoutMs: 10_000, finality, onFinalHead }) };
}

describe("an endpoint's final block", () => {
  test("[finality] is the reported one, and each poll takes one small request", async () => {
    await using node = await new ScriptedNode().listen();
    const { endpoint } = endpointOf(node);
    for (const head of [100, 101, 90]) {
      node.head = head;
      await endpoint.pollFinalHead(never);
      expect([endpoint.finalHead, endpoint.reportsFinal]).toEqual([head - node.finality, true]);
    }
    expect(node.asked).toEqual(Array(3).fill("eth_getHeaderByNumber"));
  });

  test("[finality] is a number of blocks below its newest at once on a chain whose own finality is late", async () => {
    await using node = await new ScriptedNode().listen();
    const { endpoint, clock } = endpointOf(node, { finalityBlocks: 2, isFinalByDepth: true });
    for (const head of [100, 101]) {
      node.head = head;
      await endpoint.pollFinalHead(never);
      expect([endpoint.finalHead, endpoint.reportsFinal]).toEqual([head - 2, false]);
      clock.advance(5 * MINUTE_MS);
    }
    expect(node.asked).toEqual(["eth_blockNumber", "eth_blockNumber"]);
  });

  const error = (code: number, message: string): Answer => ({ error: { code, message } });
  const REFUSALS: readonly (readonly [string, Answer])[] = [
    ["no such method", error(-32_601, "the method eth_getHeaderByNumber does not exist")],
    ["no such tag", error(-32_602, "invalid argument 0: hex string without 0x prefix")],
    ["no final block yet", error(-39_001, "finalized block not found")],
    ["null", { result: null }],
    ["the first block", { result: { number: "0x0" } }],
    ["a bad status", { status: 400 }],
  ];
  test.each(REFUSALS)(
    "[finality] is a number of blocks below its newest if it does not report one (%s); it is queried again after five minutes",
    async (_name, refusal) => {
      await using node = await new ScriptedNode().listen();
      const { endpoint, clock } = endpointOf(node);
      node.answer = (_method, [id]) => (id === "finalized" ? refusal : undefined);
      for (let poll = 0; poll < 3; poll++) expect(await endpoint.pollFinalHead(never)).toBeUndefined();
      expect([endpoint.finalHead, endpoint.reportsFinal, endpoint.failures]).toEqual([95, false, 0]);
      const both = ["eth_getHeaderByNumber", "eth_getBlockByNumber"];
      expect(node.asked).toEqual([...both, ...Array(3).fill("eth_blockNumber")]);
      node.answer = undefined;
      clock.advance(5 * MINUTE_MS);
      await endpoint.pollFinalHead(never);
      expect([endpoint.finalHead, endpoint.reportsFinal]).toEqual([98, true]);
    },
  );

  test("[finality] is requested with the whole block if the header alone is refused", async () => {
    await using node = await new ScriptedNode().listen();
    const { endpoint } = endpointOf(node);
    node.answer = (method) =>
      method === "eth_getHeaderByNumber" ? error(-32_601, "method not found") : undefined;
    // Concurrently, as when a WebSocket pushes a block during a poll.
    await Promise.all([endpoint.pollFinalHead(never), endpoint.pollFinalHead(never)]);
    await endpoint.pollFinalHead(never);
    expect([endpoint.finalHead, endpoint.reportsFinal]).toEqual([98, true]);
    expect(node.count("eth_getHeaderByNumber")).toBe(2);
    expect(node.count("eth_getBlockByNumber")).toBe(3);
  });

  test.each([
    ["fails", BROKEN],
    ["is rate-limited", BUSY],
  ])("[finality] is not guessed while the endpoint %s", async (_name, answer) => {
    await using node = await new ScriptedNode().listen();
    const { endpoint } = endpointOf(node);
    node.answer = () => answer;
    await endpoint.pollFinalHead(never);
    expect([endpoint.finalHead, endpoint.reportsFinal, node.asked.length]).toEqual([-1, true, 1]);
  });
});

describe("Polygon's blocks", () => {
  const BLOCK_MS = 1_750;

  test("[finality] are published within 7 s of their time: one each 1.75 s, final by milestones within 2 to 5 s", async () => {
    await using node = await new ScriptedNode().listen();
    await using run = new NodePool([node]);
    const { pool, clock, notify, signal } = run;
    const startMs = clock.now();
    const madeAt = (number: number) => startMs + (number - 100) * BLOCK_MS;
    const newestAt = (atMs: number) => 100 + Math.floor((atMs - startMs) / BLOCK_MS);
    // Every three seconds, a milestone makes the blocks final that are two seconds old. A poll
    // comes 0.9 s later.
    const milestoneMs = () => clock.now() - ((clock.now() - startMs + 2_900) % 3_000);
    const finalNow = () => newestAt(milestoneMs() - 2_000);
    node.secondAt = (number) => Math.floor(madeAt(number) / 1_000);
    Object.defineProperties(node, {
      head: { get: () => newestAt(clock.now()) },
      finality: { get: () => newestAt(clock.now()) - finalNow() },
    });
    await until("its head is known", () => pool.finalHead === finalNow());
    const delays: number[] = [];
    let last = 0;
    const reader = new BlockReader({ pool, clock, notify });
    const options = { pool, reader, clock, random: () => 0.5, from: pool.finalHead, notify };
    const reading = (async () => {
      for await (const { block } of finalBlocks(options, signal)) {
        last = block.number;
        delays.push(clock.now() - madeAt(block.number));
      }
    })().catch(() => undefined);
    for (let second = 0; second < 120; second++) {
      await run.look();
      await until("all final blocks are published", () => last === finalNow());
    }
    // The rest of the seven seconds is for three consecutive requests.
    const later = delays.slice(4);
    expect(later.length).toBeGreaterThan(60);
    expect(Math.max(...later)).toBeLessThanOrEqual(6_400);
    expect(node.count("eth_getHeaderByNumber")).toBeLessThanOrEqual(125);
    await run[Symbol.asyncDispose]();
    await reading;
  });
});
