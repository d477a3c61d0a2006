import { expect, test } from "vitest";
import { createConfig } from "../../src/app/config/config.ts";
import { startGateway } from "../../src/app/serve.ts";
import type { Snapshot } from "../../src/base/model/index.ts";
import { NETWORKS } from "../../src/feeds/chain/networks.ts";
import type { GatewayEvent } from "../../src/gateway/start/gateway-events.ts";
import type { Gateway } from "../../src/gateway/start/run-gateway.ts";
import { E18, Exchange } from "../feeds/chain/market/exchange.ts";
import { describeOnAnvil } from "../feeds/chain/nodes/anvil.ts";
import { FaultyNode } from "../feeds/chain/nodes/faulty-node.ts";
import { wallet } from "../feeds/chain/nodes/test-chain.ts";
import { eventually } from "../support/time/waiters.ts";
import { Story, truthOf } from "./chain-story.ts";

const WALLETS = 300;

/** Mines blocks until all trades are final and past. Resolves when the gateway has read them. */
async function settle(exchange: Exchange, gateway: Gateway): Promise<void> {
  const { chain } = exchange;
  const untilMs = chain.nextAt * 1_000 + 10_000;
  for (let block = 0; block < 8; block++) await chain.mine(5);
  const freshness = () => gateway.freshness();
  await eventually(() => Date.parse(freshness().observed_at ?? "1970-01-01") >= untilMs, freshness);
}

async function rest<T>(gateway: Gateway, path: string): Promise<T> {
  return (await (await fetch(`${gateway.url}/api/v1/${path}`)).json()) as T;
}

describeOnAnvil("a chain from its blocks to the wire", () => {
  test("with 300 wallets, a pump and a rug, a lying endpoint and a node that restarts, lists and events match the ledger", async () => {
    const exchange = await Exchange.openAs(NETWORKS.bsc);
    await using chain = exchange.chain;
    await using liarNode = await new FaultyNode(chain.url).start();
    liarNode.fault = { kind: "alters-logs" };
    const { coin } = exchange;
    const token = await exchange.token("RISE coin", "RISE");
    const late = await exchange.token("LATE coin", "LATE");
    for (let number = 0; number < WALLETS; number++) {
      await exchange.approve(wallet(number), coin);
      await exchange.approve(wallet(number), token);
      await chain.endow(coin, wallet(number), 1_000n * E18);
      await chain.endow(token, wallet(number), 10_000n * E18);
      if (number % 50 === 49) await chain.mine();
    }
    for (let block = 0; block < 4; block++) await chain.mine();
    const rpc = `${liarNode.url},${chain.url}`;
    const config = createConfig({ feed: "chain", rpc, warmup: "0", port: 0, drain: "0", logLevel: "silent" });
    const gateway = await startGateway(config);
    const beganMs = gateway.head.observedAtMs;
    const received: GatewayEvent[] = [];
    gateway.events.on("event", (event) => received.push(event));
    try {
      const story = new Story(exchange, token);
      await story.list(token, "RISE", 1_000_000n * E18, 200n * E18);
      // Forty quiet minutes, with a reorganization before finality and a restart of the node.
      for (let count = 0; count < 80; count++) {
        const by = count % 20;
        await story.trade([{ by, units: count % 2 ? -250n * E18 : E18 / 20n }], 30);
        if (count === 30) {
          await exchange.swapV2(wallet(7), 50n * E18, [coin, token]);
          await chain.mine();
          await chain.ask("anvil_reorg", [1, []]);
        }
        if (count === 50) {
          await chain.stop();
          await chain.start();
        }
      }
      // The pump: 280 wallets buy, and some of them take profits.
      for (let from = 20; from < WALLETS; from += 5) {
        const buyers = Array.from({ length: 5 }, (_, offset) => ({
          by: from + offset,
          units: E18 / 4n + BigInt(from),
        }));
        const sellers = from > 20 ? [{ by: from - 3, units: -(500n + BigInt(from)) * E18 }] : [];
        await story.trade([...buyers, ...sellers], 4);
      }
      await story.list(late, "LATE", 5_000_000n * E18, 40n * E18);
      await settle(exchange, gateway);
      const started = await rest<Snapshot["flares"]>(gateway, "flares");
      expect(started.pro.map((flare) => flare.token.address)).toEqual([token]);
      const charts = await rest<Snapshot["charts"]>(gateway, "charts");
      expect(charts.bsc.map((item) => item.flare.token.address)).toContain(token);
      const newest = await rest<Snapshot["newest"]>(gateway, "newest");
      expect(newest.bsc).toMatchObject([
        {
          pool: await exchange.pairOf(late, coin),
          liquidity: "48000",
          token: { address: late, symbol: "LATE" },
        },
      ]);

      await story.rug();
      // Liquidity counts as removed only after a minute.
      await exchange.chain.mine(61);
      await settle(exchange, gateway);
      const ended = await rest<Snapshot["flares"]>(gateway, "flares");
      expect(ended.pro).toEqual([]);
      expect(ended.finished_trending.map((flare) => flare.token.address)).toEqual([token]);
      const names = received.flatMap(({ name, channel }) =>
        /^flare-(st|fin)/.test(name) ? [`${name} ${channel}`] : [],
      );
      expect(names).toEqual([
        "flare-started flares.pro",
        "flare-finished flares.pro",
        "flare-finished flares.finished",
      ]);

      const truth = truthOf(story.ledger.events, beganMs, story.atMs);
      const { snapshot, observedAtMs } = gateway.head;
      expect(snapshot).toEqual(truth.get(observedAtMs));
      expect(observedAtMs).toBeGreaterThan(story.atMs - 60_000);
    } finally {
      await gateway.stop();
    }
  });
});
