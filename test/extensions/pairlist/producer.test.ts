import { describe, expect } from "vitest";
import { test as keyedTest } from "../../gateway/http/access/keyed-fixture.ts";
import { type ConnectionHandle, test } from "../../gateway/http/stream/websocket-fixture.ts";
import { FRESH } from "../../gateway/hub/hub-fixture.ts";
import { eventually } from "../../support/time/waiters.ts";
import { flaresOf } from "./exchange-market.ts";
import { FreqtradeConsumer, REQUESTS } from "./freqtrade-consumer.ts";

const DEFAULT = "";

async function show(wire: ConnectionHandle, ...symbols: string[]): Promise<void> {
  await wire.head.publish({ observedAtMs: 1_000, snapshot: flaresOf(symbols), events: [] });
}

describe("a stock consumer of freqtrade", () => {
  test("gets the pairs when it requests them, and each change immediately", async ({ wire }) => {
    await show(wire, "BTC", "ETH");
    const consumer = await new FreqtradeConsumer(wire.port, DEFAULT).start();
    await show(wire, "SOL", "BTC");
    await consumer.until(2);
    expect(consumer.lists).toEqual([
      ["BTC/USDT", "ETH/USDT"],
      ["SOL/USDT", "BTC/USDT"],
    ]);
    // A batch that does not change the pairs sends nothing.
    await show(wire, "SOL", "BTC");
    await consumer.settled();
    expect(consumer.lists).toHaveLength(2);
    consumer.ws.close();
  });

  test("is served by the parameters in its own token", async ({ wire }) => {
    await show(wire, "BTC");
    const one = await new FreqtradeConsumer(wire.port, "any&quote=USDC").start();
    const other = await new FreqtradeConsumer(wire.port, "&settle=USDT").start();
    expect([one.lists, other.lists]).toEqual([[["BTC/USDC"]], [["BTC/USDT:USDT"]]]);
    one.ws.close();
    other.ws.close();
  });

  test("gets a pair that no exchange has instead of an empty list, which it would ignore", async ({
    wire,
  }) => {
    await show(wire, "BTC");
    const consumer = await new FreqtradeConsumer(wire.port, DEFAULT).start();
    await show(wire);
    await consumer.until(2);
    expect(consumer.lists.at(-1)).toEqual(["NONE/NONE"]);
    consumer.ws.close();
  });

  test("loses its pairs within a second when the data becomes stale", async ({ wire }) => {
    await show(wire, "BTC");
    const consumer = await new FreqtradeConsumer(wire.port, DEFAULT).start();
    wire.freshness = { ...FRESH, state: "stale" };
    wire.clock.advance(1_000);
    await consumer.until(2);
    wire.freshness = FRESH;
    wire.clock.advance(1_000);
    await consumer.until(3);
    expect(consumer.lists).toEqual([["BTC/USDT"], ["NONE/NONE"], ["BTC/USDT"]]);
    consumer.ws.close();
  });

  test("is closed in a drain with a code after which it reconnects, and then refused with a status", async ({
    wire,
  }) => {
    await show(wire, "BTC");
    const consumer = await new FreqtradeConsumer(wire.port, DEFAULT).start();
    // Another client delays the end of the drain.
    const other = wire.client("?channels=flares.*");
    await other.answer("subscribed");
    const drained = wire.hub.drain(60_000);
    // The codes 1000 and 1001 are a clean close, at which old versions of freqtrade give up.
    expect(await consumer.ended).toBe(4200);
    expect(await new FreqtradeConsumer(wire.port, DEFAULT).refusal()).toEqual({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
    });
    other.ws.close();
    await wire.sessions(0);
    wire.clock.advance(60_000);
    await drained;
  });

  test("is refused until there is data", async ({ makeWire }) => {
    const wire = await makeWire({ ready: false });
    expect(await new FreqtradeConsumer(wire.port, DEFAULT).refusal()).toMatchObject({ status: 503 });
  });
});

describe("the producer", () => {
  test("publishes only to subscribers, and ignores unknown requests", async ({ wire }) => {
    await show(wire, "BTC");
    const consumer = await new FreqtradeConsumer(wire.port, DEFAULT).start();
    for (const unknown of [{ type: "sudo" }, 5, null, "text", { type: "subscribe" }]) consumer.send(unknown);
    await consumer.settled();
    await show(wire, "ETH");
    await consumer.settled();
    expect(consumer.lists).toEqual([["BTC/USDT"]]);
    consumer.send(REQUESTS[1]);
    await consumer.until(2);
    expect(consumer.lists.at(-1)).toEqual(["ETH/USDT"]);
    consumer.ws.close();
  });

  test("[L5] closes a consumer that sends too many requests, too large ones, or binary ones", async ({
    wire,
  }) => {
    const often = await new FreqtradeConsumer(wire.port, DEFAULT).start();
    for (let sent = 0; sent < 30; sent++) often.send(REQUESTS[1]);
    expect(await often.ended).toBe(4100);
    const much = await new FreqtradeConsumer(wire.port, DEFAULT).start();
    much.send("x".repeat(5_000));
    expect(await much.ended).toBe(4001);
    const bytes = await new FreqtradeConsumer(wire.port, DEFAULT).start();
    bytes.ws.send(Buffer.from([1]));
    expect(await bytes.ended).toBe(4000);
  });

  test("counts consumers as connections, and refuses invalid handshakes", async ({ makeWire }) => {
    const wire = await makeWire({ stream: { limits: { maxSockets: 1 } } });
    const consumer = await new FreqtradeConsumer(wire.port, DEFAULT).start();
    expect(await new FreqtradeConsumer(wire.port, DEFAULT).refusal()).toMatchObject({ status: 503 });
    consumer.ws.close();
    await consumer.ended;
    await eventually(
      () => wire.sockets().length === 0,
      () => wire.sockets().length,
    );
    expect(await new FreqtradeConsumer(wire.port, "&list=best").refusal()).toMatchObject({ status: 400 });
    expect((await wire.ask("/api/v1/message/ws?token=")).message.statusCode).toBe(426);
  });
});

keyedTest("the key is in the token, with its channels; a REST address takes none", async ({ makeKeyed }) => {
  const keys = { flares: { channels: ["flares.exchange.*"] }, bsc: { channels: ["flares.*"] } };
  const keyed = await makeKeyed({ keys });
  const { wire } = keyed;
  const consumer = await new FreqtradeConsumer(wire.port, `${keyed.secret("flares")}&quote=USDT`).start();
  const other = new FreqtradeConsumer(wire.port, `${keyed.secret("bsc")}&quote=USDT`);
  expect(await other.refusal()).toMatchObject({ status: 403 });
  expect(await new FreqtradeConsumer(wire.port, "unknown").refusal()).toMatchObject({ status: 401 });
  const statusOf = async (query: string, headers: Record<string, string> = {}) =>
    (await wire.ask(`/api/v1/pairlist${query}`, headers)).message.statusCode;
  expect(await statusOf(`?list=${keyed.secret("flares")}`)).toBe(400);
  expect(await statusOf("", keyed.bearer("flares"))).toBe(200);
  expect(await statusOf("", keyed.bearer("bsc"))).toBe(403);
  // A revoked key ends the connection, and freqtrade's next attempt is refused.
  keyed.write({ bsc: {} });
  await keyed.pass(2);
  expect(await consumer.ended).toBe(4003);
});

keyedTest("the plan free has the list free, without a key too", async ({ makeKeyed }) => {
  const keyed = await makeKeyed({ keys: { free: { plan: "free" } } });
  const { wire } = keyed;
  for (const headers of [{}, keyed.bearer("free")]) {
    for (const [query, status] of [
      ["", 403],
      ["?list=free", 200],
    ] as const)
      expect((await wire.ask(`/api/v1/pairlist${query}`, headers)).message.statusCode).toBe(status);
  }
  expect(await new FreqtradeConsumer(wire.port, "").refusal()).toMatchObject({ status: 403 });
  const consumer = await new FreqtradeConsumer(wire.port, "&list=free").start();
  consumer.ws.close();
});
