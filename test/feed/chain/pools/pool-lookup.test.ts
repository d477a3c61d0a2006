import { expect, test } from "vitest";
import { PacedClock } from "../../../support/time/paced-clock.ts";
import { Collector } from "../market/collect.ts";
import { E18, Exchange } from "../market/exchange.ts";
import { describeOnAnvil } from "../nodes/anvil.ts";
import { FaultyNode } from "../nodes/faulty-node.ts";
import { OWNER } from "../nodes/test-chain.ts";

const POOLS = 12;

/** Creates a chain with pools that were listed long ago. Each is traded in its own block. */
async function tradedPools() {
  const exchange = await Exchange.open();
  const { chain, coin } = exchange;
  const tokens: string[] = [];
  for (let count = 0; count < POOLS; count++) tokens.push(await exchange.token("Token", `T${count}`));
  for (const token of tokens) await exchange.addV2(token, 1_000_000n * E18, coin, 100n * E18);
  await chain.mine(120);
  const fromMs = chain.nextAt * 1_000;
  for (const token of tokens) {
    await exchange.swapV2(OWNER, E18, [coin, token]);
    await chain.mine();
  }
  const untilMs = chain.nextAt * 1_000;
  return { exchange, chain, fromMs, untilMs };
}

describeOnAnvil("pools that were not seen before", () => {
  test("[requests] those of many blocks are looked up together while the feed catches up", async () => {
    const { exchange, chain, fromMs, untilMs } = await tradedPools();
    await using _chain = chain;
    for (let block = 0; block <= 3; block++) await chain.mine();
    await using node = await new FaultyNode(chain.url).start();
    const { network } = exchange;
    // A slow clock: on a busy machine, blocks still arrive within a short time of each other.
    const clock = new PacedClock(0.1, Date.now());
    await using collector = new Collector({ network, urls: [node.url], resumeAfterMs: fromMs, clock });
    await collector.reached(untilMs);
    expect(collector.facts.filter(({ kind }) => kind === "trade")).toHaveLength(POOLS);
    // Three for the pools of quote tokens, two for identities, the rest for states and tokens.
    expect(node.asked.get("eth_call")).toBeLessThanOrEqual(10);
  });

  test("[pruned] a state of more than 100 blocks ago is not requested, because nodes have pruned it", async () => {
    const { exchange, chain, fromMs, untilMs } = await tradedPools();
    await using _chain = chain;
    for (let block = 0; block <= 130; block++) await chain.mine();
    await using node = await new FaultyNode(chain.url).start();
    node.fault = { kind: "forgets", blocks: 128 };
    const { network } = exchange;
    await using collector = new Collector({ network, urls: [node.url], resumeAfterMs: fromMs });
    await collector.reached(untilMs);
    expect(collector.facts.filter(({ kind }) => kind === "trade")).toHaveLength(POOLS);
    expect(node.askedForgotten).toBe(0);
  });
});
