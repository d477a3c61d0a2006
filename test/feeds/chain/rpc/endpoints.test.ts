import { expect, test } from "vitest";
import { IS_SOAK } from "../../../support/law-runs.ts";
import { Collector } from "../market/collect.ts";
import { Market } from "../market/market.ts";
import { describeOnAnvil } from "../nodes/anvil.ts";
import { type Fault, FaultyNode } from "../nodes/faulty-node.ts";
import { ScriptedNode } from "../nodes/scripted-node.ts";
import { TcpLine } from "../nodes/tcp-line.ts";

const FAULTS: readonly Fault[] = [
  { kind: "alters-logs" },
  { kind: "lag", blocks: 40 },
  { kind: "ahead", blocks: 1_000 },
  { kind: "down" },
  { kind: "html" },
  { kind: "wrong-types" },
  { kind: "foreign" },
  { kind: "no-receipts" },
  { kind: "busy", times: 20, retryAfter: "1" },
];

describeOnAnvil("a chain behind several endpoints", () => {
  // In npm test, endpoints with other faults are in the tests below.
  test.each(IS_SOAK ? FAULTS : FAULTS.slice(0, 1))(
    "[failover] with a $kind endpoint beside an honest one, every event is published exactly",
    async (fault) => {
      await using market = await Market.open();
      const { network, chain } = market.exchange;
      await using faulty = await new FaultyNode(chain.url).start();
      faulty.fault = fault;
      await using collector = new Collector({ network, urls: [faulty.url, chain.url] });
      for (let count = 0; count < 5; count++) await market.trade();
      await collector.reached(await market.settle());
      // The fault is active at the start and while the feed is live.
      for (let count = 0; count < 5; count++) await market.trade();
      await collector.reached(await market.settle());
      expect(collector.facts).toEqual(market.events);
      expect(faulty.asked.size).toBeGreaterThan(0);
      // BSC's official endpoints refuse eth_getLogs.
      expect(faulty.asked.has("eth_getLogs")).toBe(false);
      expect(collector.notices.join()).not.toContain("secret-key");
    },
  );

  test.runIf(IS_SOAK)(
    "[failover] an endpoint that claims blocks that no other has does not prevent the start",
    async () => {
      await using market = await Market.open();
      const { network, chain } = market.exchange;
      await using liar = await new FaultyNode(chain.url).start();
      await using late = await new FaultyNode(chain.url).start();
      liar.fault = { kind: "ahead", blocks: 1_000 };
      late.fault = { kind: "busy", times: 1, retryAfter: "1" };
      await using collector = new Collector({ network, urls: [liar.url, late.url] });
      await market.trade();
      await collector.reached(await market.settle());
      expect(collector.facts).toEqual(market.events);
    },
  );

  test("[failover] two of three endpoints outvote the third, which is reported", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await using liar = await new FaultyNode(chain.url).start();
    await using honest = await new FaultyNode(chain.url).start();
    liar.fault = { kind: "other-hash" };
    await using collector = new Collector({ network, urls: [liar.url, chain.url, honest.url] });
    for (let count = 0; count < 5; count++) await market.trade();
    await collector.reached(await market.settle());
    expect(collector.facts).toEqual(market.events);
  });

  test("[pace] a rate-limited endpoint gets fewer requests, and every event is still published", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await using busy = await new FaultyNode(chain.url).start();
    busy.fault = { kind: "busy", times: 6 };
    await using collector = new Collector({ network, urls: [busy.url] });
    for (let count = 0; count < 3; count++) await market.trade();
    await collector.reached(await market.settle());
    expect(collector.facts).toEqual(market.events);
  });

  test("[heads] an endpoint with a WebSocket pushes new blocks", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    // No head is polled within an hour.
    const urls = [chain.url.replace("http", "ws")];
    await using collector = new Collector({ network, urls, pollEveryMs: 3_600_000 });
    await market.trade();
    await collector.reached(await market.settle());
    await market.trade();
    await collector.reached(await market.settle());
    expect(collector.facts).toEqual(market.events);
  });

  test("[heads] when the WebSocket is cut, blocks come from the other endpoint", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await using line = await new TcpLine(chain.url).start();
    await using collector = new Collector({ network, urls: [line.url, chain.url] });
    await market.trade();
    await collector.reached(await market.settle());
    line.cut();
    for (let count = 0; count < 3; count++) await market.trade();
    await collector.reached(await market.settle());
    expect(collector.facts).toEqual(market.events);
  });

  test("[refusal] if all endpoints serve another chain, the feed fails with the reason", async () => {
    await using market = await Market.open();
    await using foreign = await new FaultyNode(market.exchange.chain.url).start();
    foreign.fault = { kind: "foreign" };
    await using collector = new Collector({ network: market.exchange.network, urls: [foreign.url] });
    await expect(collector.ended).rejects.toThrow("no endpoint serves chain 56");
    expect(collector.notices.join()).toContain("serves chain 1, not 56");
  });

  test("[preset] contracts that the first endpoint to respond lacks are looked up again", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await using early = await new ScriptedNode().listen();
    let requests = 0;
    early.answer = async (method, params) => {
      if (method === "eth_getCode" && requests++ < 2 * (network.factories.length + network.quotes.length + 1))
        return { result: "0x" };
      if (method === "eth_getHeaderByNumber") return { error: { code: -32_601, message: "unknown" } };
      return { result: await chain.ask(method, [...params]) };
    };
    await using collector = new Collector({ network, urls: [early.url] });
    await market.trade();
    await collector.reached(await market.settle());
    expect(collector.facts).toEqual(market.events);
  });

  test("[preset] a missing contract is ignored and reported; without any left the feed fails", async () => {
    await using market = await Market.open();
    const { network } = market.exchange;
    const nowhere = `0x${"77".repeat(20)}`;
    const [first, ...others] = network.factories;
    if (!first) throw new Error("no factory");
    const partly = { ...network, factories: [...others, { ...first, name: "Gone", address: nowhere }] };
    await using collector = new Collector({ network: partly });
    await collector.reached(await market.settle());
    expect(collector.notices).toContain(
      `the factory of Gone does not exist at ${nowhere} on test; ignoring it`,
    );
    expect(collector.facts).toEqual([]);
    const nothing = { ...network, factories: [{ ...first, address: nowhere }] };
    await using failing = new Collector({ network: nothing });
    await expect(failing.ended).rejects.toThrow("none of the followed factories exists on test");
  });
});
