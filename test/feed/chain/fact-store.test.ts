import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FactStore } from "../../../src/feed/chain/rpc/fact-store.ts";
import { describeOnAnvil } from "./anvil.ts";
import { Collector } from "./collect.ts";
import { FaultyNode } from "./faulty-node.ts";
import { Market } from "./market.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-facts-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function openAt(path: string | undefined) {
  const notices: string[] = [];
  const store = new FactStore(path, (_level, words) => notices.push(words));
  return { store, notices, [Symbol.dispose]: () => store.close() };
}

test("[facts] a store returns after a restart what it had, big integers as text", () => {
  const path = join(directory, "facts.sqlite");
  {
    using first = openAt(path);
    first.store.set(new Map([["token a", { decimals: 6, big: 7n }]]));
    expect(first.store.get("token a")).toEqual({ decimals: 6, big: "7" });
  }
  using second = openAt(path);
  expect([second.store.get("token a"), second.store.get("token b")]).toEqual([
    { decimals: 6, big: "7" },
    undefined,
  ]);
  expect(second.notices).toEqual([]);
});

test("[facts] without a file, facts last as long as the store", () => {
  using only = openAt(undefined);
  only.store.set(new Map([["token a", 1]]));
  expect(only.store.get("token a")).toBe(1);
});

test("[facts] a damaged file is set aside and reported, and a new one begun", () => {
  const path = join(directory, "facts.sqlite");
  writeFileSync(path, "no database, but a text that is long enough to look like one ".repeat(100));
  using damaged = openAt(path);
  expect(damaged.notices).toEqual([expect.stringContaining("starting a new one")]);
  expect(readFileSync(`${path}.damaged`, "utf8")).toContain("no database");
  damaged.store.set(new Map([["token a", 1]]));
  damaged.store.close();
  using again = openAt(path);
  expect([again.store.get("token a"), again.notices]).toEqual([1, []]);
});

test("[facts] a file that another process uses is left alone, and memory takes its place", () => {
  const path = join(directory, "facts.sqlite");
  using first = openAt(path);
  first.store.set(new Map([["token a", 1]]));
  using second = openAt(path);
  expect(second.notices).toEqual([expect.stringContaining("using memory")]);
  second.store.set(new Map([["token b", 2]]));
  expect([second.store.get("token b"), second.store.get("token a")]).toEqual([2, undefined]);
  expect(first.store.get("token a")).toBe(1);
});

describeOnAnvil("a feed with a file of facts", () => {
  test("[restart] asks only for states after a restart: pools and tokens are on disk", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await market.trade();
    await market.settle();
    await chain.mine(120);
    const resumeAfterMs = market.untilMs;
    const before = market.events.length;
    await market.trade();
    const untilMs = await market.settle();
    const factsFile = join(directory, "chain.sqlite");
    const counts: (number | undefined)[] = [];
    for (let start = 0; start < 2; start++) {
      await using node = await new FaultyNode(chain.url).start();
      const urls = [node.url];
      await using collector = new Collector({ network, urls, resumeAfterMs, factsFile });
      await collector.reached(untilMs);
      const events = collector.facts.filter(({ kind }) => kind !== "profile");
      expect(events).toEqual(market.events.slice(before));
      counts.push(node.asked.get("eth_call"), node.asked.get("eth_getCode"));
    }
    // At first: the pools of quote tokens, identities, states and tokens.
    expect(counts).toEqual([8, 7, 3, undefined]);
  });
});
