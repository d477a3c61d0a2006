import type { Hex } from "ox/Hex";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { createChainFeed } from "../../../src/feeds/chain/chain-feed.ts";
import { NETWORKS } from "../../../src/feeds/chain/networks.ts";
import { decodeCalls, encodeResults } from "../../support/world/multicall.ts";
import { ScriptedNode } from "./nodes/scripted-node.ts";
import { SettledChain } from "./nodes/settled-chain.ts";

/**
 * Returns Multicall3's response if all calls fail except the last one, which measures the gas.
 */
function failedCalls([call]: readonly unknown[]): string {
  const { data } = call as { readonly data: Hex };
  const calls = decodeCalls(data);
  const results = calls.map((_call, index) => ({
    success: index === calls.length - 1,
    returnData: "0x" as const,
  }));
  return encodeResults(results);
}

test("a feed of Avalanche after Helicon is live up to the newest settled block", async () => {
  const newest = 40;
  const now = Math.floor(systemClock.now() / 1_000);
  const settled = Array.from({ length: newest + 1 }, (_, number) => Math.max(0, number - 6));
  const chain = new SettledChain(
    settled,
    settled.map((_, number) => number % 4),
    (number) => now - newest + number,
  );
  await using node = await new ScriptedNode().listen();
  node.chainId = NETWORKS.avalanche.chainId;
  node.answer = (method, params) => {
    if (method === "eth_getCode") return { result: "0x01" };
    return method === "eth_call" ? { result: failedCalls(params) } : chain.answer(method, params);
  };
  const feed = createChainFeed({ network: NETWORKS.avalanche, urls: [node.url], clock: systemClock });
  const stop = new AbortController();
  const seconds: number[] = [];
  for await (const event of feed.events(stop.signal)) {
    if (event.kind === "clock") seconds.push(event.at / 1_000);
    if (seconds.at(-1) === now - newest + chain.settled) break;
  }
  stop.abort();
  expect(seconds).toEqual(seconds.map((_, index) => (seconds[0] ?? 0) + index));
  expect(feed.trouble?.()).toBeUndefined();
});
