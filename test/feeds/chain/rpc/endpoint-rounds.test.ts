import { describe, expect } from "vitest";
import { Endpoint } from "../../../../src/feeds/chain/rpc/endpoint.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { stillRunning, test } from "../../../support/time/still-running.ts";
import { settle, until } from "../../exchange/scripted-venue.ts";
import { NodePool } from "../nodes/node-pool.ts";
import { type Answer, BROKEN, BUSY, ScriptedNode } from "../nodes/scripted-node.ts";

const never = new AbortController().signal;

function endpointOf(node: ScriptedNode, url = node.url) {
  const clock = new ManualClock();
  const heads: number[] = [];
  const endpoint: Endpoint = new Endpoint({
    url,
    clock,
    timeoutMs: 10_000,
    finality: { finalityBlocks: 5 },
    onFinalHead: () => heads.push(endpoint.finalHead),
  });
  return { clock, endpoint, heads };
}

describe("one endpoint", () => {
  test("rests longer with each consecutive failure, up to five seconds, and starts over after a success", async () => {
    await using node = await new ScriptedNode().listen();
    const { clock, endpoint } = endpointOf(node);
    const rests = (): number => {
      endpoint.markFailure();
      let ms = 0;
      for (; endpoint.isResting; ms += 50) clock.advance(50);
      return ms;
    };
    const first = [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000];
    expect(first.map(rests)).toEqual(first);
    expect(endpoint.failures).toBe(7);
    endpoint.markFailure();
    endpoint.markSuccess();
    expect([endpoint.isResting, endpoint.failures]).toEqual([false, 0]);
    expect(rests()).toBe(250);
  });

  test("counts failed polls until one succeeds, and reports each head once, even one that decreases", async () => {
    await using node = await new ScriptedNode().listen();
    const { clock, endpoint, heads } = endpointOf(node);
    for (const round of [1, 2]) {
      node.answer = () => BROKEN;
      expect((await endpoint.pollFinalHead(never))?.kind).toBe("failed");
      expect((await endpoint.pollFinalHead(never))?.kind).toBe("failed");
      expect([endpoint.failures, endpoint.isResting]).toEqual([2, true]);
      clock.advance(500);
      expect(endpoint.isResting).toBe(false);
      node.answer = undefined;
      node.head = 100 - round;
      expect(await endpoint.pollFinalHead(never)).toBeUndefined();
      expect(await endpoint.pollFinalHead(never)).toBeUndefined();
      expect(endpoint.failures).toBe(0);
    }
    expect(heads).toEqual([97, 96]);
  });

  test("gets requests more slowly after each refusal, up to a pause of two seconds, and faster again while it responds", async () => {
    await using node = await new ScriptedNode().listen();
    const { clock, endpoint } = endpointOf(node);
    /** Sends a request. Returns how long it was delayed, in milliseconds. */
    const ask = async (): Promise<number> => {
      const count = node.asked.length;
      const slept = clock.slept.length;
      const request = endpoint.ask("eth_call", [], never).catch((error: unknown) => error);
      const delayMs = clock.slept.length > slept ? (clock.slept.at(-1) ?? 0) : 0;
      clock.advance(delayMs);
      await request;
      expect(node.asked).toHaveLength(count + 1);
      // So that the next refusal is for a later request than this one.
      clock.advance(1);
      return delayMs;
    };
    expect(await ask()).toBe(0);
    node.answer = () => BUSY;
    const delays: number[] = [];
    for (let count = 0; count < 10; count++) delays.push(await ask());
    expect(delays.map(Math.round)).toEqual([0, 19, 39, 79, 159, 319, 639, 1_279, 1_999, 1_999]);
    expect([endpoint.failures, endpoint.isResting]).toEqual([0, false]);
    node.answer = undefined;
    const recovering: number[] = [];
    for (let count = 0; count < 30; count++) recovering.push(await ask());
    expect(recovering.slice(0, 4).map(Math.round)).toEqual([1_999, 1_999, 1_399, 979]);
    expect(recovering.at(-1)).toBe(0);
  });

  test.each([
    ["rate", -32_005, "limit exceeded"],
    ["refused", -32_601, "the method eth_call does not exist/is not available"],
    ["reverted", 3, "execution reverted"],
    ["failed", -32_000, "header not found"],
  ] as const)("has its errors classified by code and message: %s", async (kind, code, message) => {
    await using node = await new ScriptedNode().listen();
    node.answer = () => ({ error: { code, message } });
    const { endpoint } = endpointOf(node);
    await expect(endpoint.ask("eth_call", [], never)).rejects.toMatchObject({ kind });
  });

  test("is slowed down once by refusals of simultaneous requests", async () => {
    await using node = await new ScriptedNode().listen();
    const { clock, endpoint } = endpointOf(node);
    node.answer = () => BUSY;
    clock.advance(1_000);
    const requests = Array.from({ length: 5 }, () => endpoint.ask("eth_call", [], never).catch(() => {}));
    await Promise.all(requests);
    const again = endpoint.ask("eth_call", [], never).catch(() => {});
    expect(clock.slept.at(-1)).toBe(20);
    clock.advance(20);
    await again;
  });

  test("gets no requests for as long as it demands, which does not count as a failure", async () => {
    await using node = await new ScriptedNode().listen();
    const { clock, endpoint } = endpointOf(node);
    node.answer = () => ({ ...BUSY, retryAfter: "7" });
    expect(await endpoint.pollFinalHead(never)).toBeUndefined();
    expect([endpoint.failures, endpoint.isResting]).toEqual([0, true]);
    // A request to this endpoint waits too.
    const again = endpoint.ask("eth_call", [], never).catch(() => {});
    expect(clock.slept.at(-1)).toBe(7_000);
    node.answer = undefined;
    clock.advance(6_999);
    await settle();
    expect(node.asked).toHaveLength(1);
    expect(endpoint.isResting).toBe(true);
    clock.advance(1);
    await again;
    expect([endpoint.isResting, node.asked.length]).toEqual([false, 2]);
    expect(endpoint.tally.report("bsc", "x", true)).toMatchObject({ requests: 2, refused: 1, errors: 0 });
  });

  test("gets no requests for at most five minutes, whatever it demands", async () => {
    await using node = await new ScriptedNode().listen();
    for (const [retryAfter, restMs] of [
      ["300", 300_000],
      ["301", 300_000],
      ["999999", 300_000],
      ["9999999", 0],
      ["Wed, 21 Oct 2026 07:28:00 GMT", 0],
    ] as const) {
      const { clock, endpoint } = endpointOf(node);
      node.answer = () => ({ ...BUSY, retryAfter });
      await endpoint.pollFinalHead(never);
      clock.advance(Math.max(0, restMs - 1));
      expect([retryAfter, endpoint.isResting]).toEqual([retryAfter, restMs > 0]);
      clock.advance(1);
      expect([retryAfter, endpoint.isResting]).toEqual([retryAfter, false]);
    }
  });

  test("pushes its blocks over a WebSocket, which is closed when the listener stops", async () => {
    await using node = await new ScriptedNode().listen();
    const { endpoint, heads } = endpointOf(node, node.url.replace("http", "ws"));
    const stop = new AbortController();
    expect(await endpoint.listen(stop.signal)).toBeUndefined();
    expect(await endpoint.pollFinalHead(stop.signal)).toBeUndefined();
    expect([endpoint.isListening, node.openSockets, heads]).toEqual([true, 1, [98]]);
    node.tellHead(101);
    await until("the new head is polled", () => heads.length === 2);
    // All heads that are pushed during one poll cause one more poll.
    const before = node.asked.length;
    for (const head of [102, 103, 104]) node.tellHead(head);
    await until("the last head is polled", () => heads.at(-1) === 102);
    expect(heads.slice(0, 2)).toEqual([98, 99]);
    expect(node.asked.length - before).toBeLessThanOrEqual(3);
    endpoint.close();
    await until("the WebSocket is closed", () => node.openSockets === 0);
  });

  test("polls nothing for a block of a subscription that is not its own", async () => {
    await using node = await new ScriptedNode().listen();
    const { endpoint } = endpointOf(node, node.url.replace("http", "ws"));
    expect(await endpoint.listen(never)).toBeUndefined();
    node.tellHead(101, "0x1");
    // The first answer follows the pushed block, and the second would follow the poll for it.
    for (const _ of [1, 2]) await endpoint.ask("eth_chainId", [], never);
    expect(node.asked).toEqual(["eth_subscribe", "eth_chainId", "eth_chainId"]);
    endpoint.close();
  });

  test("reopens a lost WebSocket with the next request, and listens again", async () => {
    await using node = await new ScriptedNode().listen();
    const { clock, endpoint, heads } = endpointOf(node, node.url.replace("http", "ws"));
    expect(await endpoint.listen(never)).toBeUndefined();
    node.isDown = true;
    await until("the loss is noticed", () => !endpoint.isListening);
    for (const listening of [endpoint.listen(never), endpoint.listen(never)])
      expect((await listening)?.message).toMatch(/WebSocket/);
    expect([endpoint.failures, endpoint.isResting]).toEqual([2, true]);
    node.isDown = false;
    clock.advance(5_000);
    expect(await endpoint.listen(never)).toBeUndefined();
    expect(await endpoint.pollFinalHead(never)).toBeUndefined();
    node.tellHead(101);
    await until("the new head is polled", () => heads.at(-1) === 99);
    expect([endpoint.failures, node.openSockets]).toEqual([0, 1]);
    endpoint.close();
  });

  test("counts as failed if its WebSocket delivers nothing in time, and then opens a new one", async () => {
    await using node = await new ScriptedNode().listen();
    const { clock, endpoint } = endpointOf(node, node.url.replace("http", "ws"));
    const { promise: unanswered } = Promise.withResolvers<Answer>();
    node.answer = () => unanswered;
    const polled = endpoint.pollFinalHead(never);
    await until("the request arrives", () => node.asked.length === 1);
    clock.advance(10_000);
    expect((await polled)?.message).toMatch(/^did not respond to \w+ over its WebSocket within 10 s$/);
    await until("the dead WebSocket is closed", () => node.openSockets === 0);
    node.answer = undefined;
    expect(await endpoint.pollFinalHead(never)).toBeUndefined();
    endpoint.close();
  });
});

describe("several endpoints", () => {
  test("are used in order of reliability: the failing one last, one that is behind not at all", async () => {
    await using first = await new ScriptedNode().listen();
    await using second = await new ScriptedNode().listen();
    await using run = new NodePool([first, second]);
    const { pool, clock } = run;
    second.head = 99;
    await run.ready();
    await until("both heads are known", () => pool.finalHeads.join() === "98,97");
    expect([pool.finalHead, ...[97, 98, 99].map((number) => pool.usable(number).length)]).toEqual([
      98, 2, 1, 0,
    ]);
    const requestCounts = async () => {
      const before = [first.count("eth_call"), second.count("eth_call")];
      await pool.ask("eth_call", [], never);
      return [first.count("eth_call") - (before[0] ?? 0), second.count("eth_call") - (before[1] ?? 0)];
    };
    expect(await requestCounts()).toEqual([1, 0]);
    first.answer = (method) => (method === "eth_call" ? BROKEN : undefined);
    expect(await requestCounts()).toEqual([1, 1]);
    // It rests, and then ranks behind the other.
    expect(await requestCounts()).toEqual([0, 1]);
    expect(pool.usable(0)).toHaveLength(1);
    clock.advance(250);
    await settle();
    expect(pool.usable(0)).toHaveLength(2);
    expect(await requestCounts()).toEqual([0, 1]);
  });

  test("take turns in runs of fifty requests, so that no endpoint's limit is used up first", async () => {
    await using first = await new ScriptedNode().listen();
    await using second = await new ScriptedNode().listen();
    await using third = await new ScriptedNode().listen();
    const nodes = [first, second, third];
    await using run = new NodePool(nodes);
    await until("all nodes are usable", () => run.pool.usable(0).length === nodes.length);
    for (let count = 0; count < 240; count++) await run.pool.ask("eth_call", [], never);
    const counts = nodes.map((node) => node.count("eth_call"));
    expect(counts.every((count) => count >= 40)).toBe(true);
  });

  test("get no more requests than allowed in five minutes", async () => {
    await using first = await new ScriptedNode().listen();
    await using second = await new ScriptedNode().listen();
    const nodes = [first, second];
    await using run = new NodePool(nodes, 20);
    await until("all nodes are usable", () => run.pool.usable(0).length === nodes.length);
    const before = nodes.reduce((sum, { asked }) => sum + asked.length, 0);
    for (let count = before; count < 40; count++) await run.pool.ask("eth_call", [], never);
    expect(nodes.map(({ asked }) => asked.length)).toEqual([20, 20]);
    const more = run.pool.ask("eth_call", [], never);
    await until("the request waits", () => run.clock.slept.at(-1) === 1_000);
    expect(nodes.map(({ asked }) => asked.length)).toEqual([20, 20]);
    run.clock.advance(310_000);
    expect(await more).toBe("0x");
  });

  test("get no requests while they rest, even if all do", async () => {
    await using node = await new ScriptedNode().listen();
    await using run = new NodePool([node]);
    const { pool, clock } = run;
    await run.ready();
    await until("its head is known", () => pool.finalHead === 98);
    node.answer = (method) => (method === "eth_call" ? BROKEN : undefined);
    await expect(pool.ask("eth_call", [], never)).rejects.toMatchObject({ kind: "failed" });
    node.answer = undefined;
    await expect(pool.ask("eth_call", [], never)).rejects.toThrow("no endpoint is available");
    expect([pool.finalHead, node.count("eth_call")]).toEqual([-1, 1]);
    clock.advance(250);
    expect([pool.finalHead, await pool.ask("eth_call", [], never)]).toEqual([98, "0x"]);
  });

  test("are not tried in turn for a call that reverts", async () => {
    await using first = await new ScriptedNode().listen();
    await using second = await new ScriptedNode().listen();
    await using run = new NodePool([first, second]);
    await run.ready();
    await until("both nodes are usable", () => run.pool.usable(0).length === 2);
    const reverted: Answer = { error: { code: 3, message: "execution reverted" } };
    for (const node of [first, second]) node.answer = () => reverted;
    await expect(run.pool.ask("eth_call", [], never)).rejects.toMatchObject({ kind: "reverted" });
    expect([first.count("eth_call"), second.count("eth_call")]).toEqual([1, 0]);
  });

  test("are reported once when they go down and once when they recover", async () => {
    await using node = await new ScriptedNode().listen();
    await using run = new NodePool([node]);
    const { notices, pool } = run;
    await run.ready();
    await until("its head is known", () => pool.finalHead === 98);
    for (const round of [1, 2]) {
      node.answer = () => BROKEN;
      for (let count = 0; count < 4; count++) await run.look();
      expect(pool.services("bsc")[0]?.isUp).toBe(false);
      node.answer = undefined;
      for (let count = 0; count < 8; count++) await run.look();
      expect(pool.services("bsc")[0]?.isUp).toBe(true);
      expect(notices.map((one) => one === "responds again")).toEqual(Array(round).fill([false, true]).flat());
    }
  });

  test("of another chain are reported and never used again", async () => {
    await using node = await new ScriptedNode().listen();
    node.chainId = 1;
    const run = new NodePool([node]);
    await until("the wrong chain is detected", () => run.pool.allWrongChain);
    await run[Symbol.asyncDispose]();
    run.clock.advance(60_000);
    await settle();
    expect([node.asked, run.pool.finalHead]).toEqual([["eth_chainId"], -1]);
    expect(run.notices).toEqual(["serves chain 1, not 56; ignoring it"]);
  });

  test("are awaited until a head moves or the timeout expires, without leaking timers", async () => {
    await using node = await new ScriptedNode().listen();
    await using run = new NodePool([node]);
    const { pool, clock } = run;
    await run.ready();
    await until("its head is known", () => pool.finalHead === 98);
    await settle();
    const running = stillRunning();
    for (let round = 0; round < 3; round++) {
      node.head += 1;
      const moved = pool.changed(60_000, never);
      clock.advance(1_000);
      await moved;
      await until("nothing more runs", () => stillRunning().join() === running.join());
      const waited = pool.changed(100, never);
      clock.advance(100);
      await waited;
      expect(stillRunning()).toEqual(running);
    }
  });
});
