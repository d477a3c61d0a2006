import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { createChainFeed } from "../../../src/feeds/chain/chain-feed.ts";
import { E18, Exchange } from "../../feeds/chain/market/exchange.ts";
import { FaultyNode } from "../../feeds/chain/nodes/faulty-node.ts";
import { OWNER } from "../../feeds/chain/nodes/test-chain.ts";
import type { Row } from "./report.ts";

const BLOCKS = 200;
const POOLS = 30;

/**
 * Counts the requests of a feed that reads 200 blocks at its start, in which 30 unknown pools
 * trade: on a real EVM, at two endpoints that store the states of 128 blocks.
 */
export async function benchRequests(): Promise<Row[]> {
  const exchange = await Exchange.open();
  const { chain, coin, network } = exchange;
  await using _chain = chain;
  const tokens: string[] = [];
  for (let count = 0; count < POOLS; count++) tokens.push(await exchange.token("Token", `T${count}`));
  for (const token of tokens) await exchange.addV2(token, 1_000_000n * E18, coin, 100n * E18);
  await chain.mine(120);
  const resumeAfterMs = chain.nextAt * 1_000;
  for (let block = 0; block < BLOCKS; block++) {
    const token = tokens[Math.floor((block * POOLS) / BLOCKS)] ?? coin;
    await exchange.swapV2(OWNER, E18, [coin, token]);
    await chain.mine(block % 2);
  }
  const untilMs = chain.nextAt * 1_000 - 1_000;
  for (let block = 0; block < 3; block++) await chain.mine();
  await using one = await new FaultyNode(chain.url).start();
  await using two = await new FaultyNode(chain.url).start();
  const nodes = [one, two];
  for (const node of nodes) node.fault = { kind: "forgets", blocks: 128 };
  const stop = new AbortController();
  const feed = createChainFeed({
    network,
    urls: nodes.map(({ url }) => url),
    clock: systemClock,
    resumeAfterMs,
  });
  const began = performance.now();
  for await (const { at } of feed.events(stop.signal)) if (at >= untilMs) break;
  const seconds = (performance.now() - began) / 1_000;
  stop.abort();
  const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  const countOf = (method: string) => sumOf(nodes.map(({ asked }) => asked.get(method) ?? 0));
  const reads = countOf("eth_getBlockByNumber") + countOf("eth_getBlockReceipts");
  const all = sumOf(nodes.flatMap(({ asked }) => [...asked.values()]));
  const what = `${BLOCKS} blocks with ${POOLS} new pools`;
  return [
    {
      what: `${what}: calls of contracts`,
      value: countOf("eth_call"),
      unit: "requests",
      aim: "≤ 20",
    },
    {
      what: `${what}: calls of pruned states`,
      value: sumOf(nodes.map(({ askedForgotten }) => askedForgotten)),
      unit: "requests",
      aim: "0",
    },
    { what: `${what}: headers and receipts`, value: reads, unit: "requests", aim: "told, not bounded" },
    { what: `${what}: all`, value: all, unit: "requests", aim: "told, not bounded" },
    { what: `${what}: until the last event`, value: seconds, unit: "s", aim: "told, not bounded" },
  ];
}
