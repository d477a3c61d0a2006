import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import { FactStore } from "../../../../src/feeds/chain/rpc/fact-store.ts";
import { IS_SOAK } from "../../../support/law-runs.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { PacedClock } from "../../../support/time/paced-clock.ts";
import { Collector } from "../market/collect.ts";
import { Market } from "../market/market.ts";
import { describeOnAnvil } from "../nodes/anvil.ts";
import { FaultyNode } from "../nodes/faulty-node.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-facts-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function openAt(path: string | undefined, clock = new ManualClock()) {
  const notices: string[] = [];
  const store = new FactStore(path, clock, (_level, words) => notices.push(words));
  return { store, notices, [Symbol.dispose]: () => store.close() };
}

test("[facts] a store returns its facts after a restart, with big integers as text", () => {
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

test("[facts] a fact is forgotten thirty days after two hosts returned it", () => {
  const clock = new ManualClock(0);
  using only = openAt(undefined, clock);
  only.store.set(new Map([["token a", 1]]));
  clock.advance(30 * 86_400_000 - 1);
  expect(only.store.get("token a")).toBe(1);
  clock.advance(1);
  expect(only.store.get("token a")).toBeUndefined();
});

test("[facts] facts of the first version, which one endpoint returned alone, are requested again", () => {
  const path = join(directory, "facts.sqlite");
  const db = new DatabaseSync(path);
  db.exec(`CREATE TABLE fact (at INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL) STRICT; INSERT INTO fact (key, value) VALUES ('token a', '1');
    PRAGMA application_id = ${0x464c5743}; PRAGMA user_version = 1`);
  db.close();
  using store = openAt(path);
  expect([store.store.get("token a"), store.notices]).toEqual([undefined, []]);
  store.store.set(new Map([["token a", 2]]));
  expect(store.store.get("token a")).toBe(2);
});

test("[facts] without a file, facts last as long as the store", () => {
  using only = openAt(undefined);
  only.store.set(new Map([["token a", 1]]));
  expect(only.store.get("token a")).toBe(1);
});

test("[facts] a damaged file is renamed and reported, and a new one is started", () => {
  const path = join(directory, "facts.sqlite");
  writeFileSync(path, "no database, but a text that is long enough to look like one ".repeat(100));
  using damaged = openAt(path);
  expect(damaged.notices).toEqual([expect.stringContaining("started a new one")]);
  expect(readFileSync(`${path}.damaged`, "utf8")).toContain("no database");
  damaged.store.set(new Map([["token a", 1]]));
  damaged.store.close();
  using again = openAt(path);
  expect([again.store.get("token a"), again.notices]).toEqual([1, []]);
});

test("[facts] if a damaged file cannot be renamed, memory is used and reported", () => {
  const path = join(directory, "facts.sqlite");
  writeFileSync(path, "no database, but a text that is long enough to look like one ".repeat(100));
  mkdirSync(join(`${path}.damaged`, "full"), { recursive: true });
  using store = openAt(path);
  expect(store.notices).toEqual([expect.stringContaining("using memory")]);
  store.store.set(new Map([["token a", 1]]));
  expect([store.store.get("token a"), readFileSync(path, "utf8")]).toEqual([
    1,
    expect.stringContaining("no database"),
  ]);
});

test("[facts] a file that another process uses is left unchanged, and memory is used instead", () => {
  const path = join(directory, "facts.sqlite");
  using first = openAt(path);
  first.store.set(new Map([["token a", 1]]));
  using second = openAt(path);
  expect(second.notices).toEqual([expect.stringContaining("using memory")]);
  second.store.set(new Map([["token b", 2]]));
  expect([second.store.get("token b"), second.store.get("token a")]).toEqual([2, undefined]);
  expect(first.store.get("token a")).toBe(1);
});

test("[facts] a store that failed continues in memory and closes its file, which another can use", () => {
  const path = join(directory, "facts.sqlite");
  using failed = openAt(path);
  failed.store.set(new Map([["token a", 1]]));
  const unwritable: { self?: unknown } = {};
  unwritable.self = unwritable;
  failed.store.set(new Map([["token b", unwritable]]));
  expect(failed.notices).toEqual([expect.stringContaining("failed; using memory")]);
  failed.store.set(new Map([["token c", 3]]));
  using other = openAt(path);
  expect([failed.store.get("token c"), other.store.get("token a"), other.notices]).toEqual([3, 1, []]);
});

describeOnAnvil("a feed with a file of facts", () => {
  test("[restart] requests only states after a restart, because pools and tokens are on disk", async () => {
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
      await using other = await new FaultyNode(chain.url).start();
      const urls = [node.url, other.url];
      await using collector = new Collector({ network, urls, resumeAfterMs, factsFile });
      await collector.reached(untilMs);
      const events = collector.facts.filter(({ kind }) => kind !== "profile");
      expect(events).toEqual(market.events.slice(before));
      for (const method of ["eth_call", "eth_getCode"])
        counts.push((node.asked.get(method) ?? 0) + (other.asked.get(method) ?? 0));
    }
    // First start: pools of quote tokens, states, holders; from both hosts identities and tokens.
    expect(counts).toEqual([14, 7, 4, 0]);
  });

  test("[facts] decimals that one of two or three endpoints invents are neither used nor stored", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await market.trade();
    const untilMs = await market.settle();
    await using liar = await new FaultyNode(chain.url).start();
    await using honest = await new FaultyNode(chain.url).start();
    liar.fault = { kind: "lies-about-decimals" };
    const factsFile = join(directory, "chain.sqlite");
    // An endpoint with a WebSocket is queried last.
    const third = chain.url.replace("http", "ws");
    const both = [liar.url, honest.url];
    const tries = [
      { urls: both, outcome: /^ignoring \d+$/ },
      { urls: [...both, third], outcome: new RegExp(`^ws://${new URL(third).host} decides \\d+ of them$`) },
      { urls: [honest.url, third], outcome: undefined },
    ];
    for (const { urls, outcome } of IS_SOAK ? tries : tries.slice(0, 2)) {
      // A busy machine must not make an endpoint slow, because slow ones are asked last.
      const clock = new PacedClock(1, chain.nextAt * 1_000);
      await using collector = new Collector({ network, urls, factsFile, clock });
      await collector.reached(untilMs);
      if (urls === both) {
        const isTrade = ({ kind }: MarketEvent) => kind === "trade";
        expect(market.events).toEqual(expect.arrayContaining(collector.facts.filter(isTrade)));
      } else expect(collector.facts).toEqual(market.events);
      const reports = collector.notices.filter((words) => / differ about \d+ of \d+ contracts; /.test(words));
      expect(reports.length > 0).toBe(outcome !== undefined);
      for (const words of reports)
        expect(words.split("; ").slice(1)).toEqual([expect.stringMatching(outcome ?? "")]);
    }
  });

  test("[facts] facts from the only endpoint that responds are not stored, so a lie ends with the process", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await market.trade();
    const untilMs = await market.settle();
    await using node = await new FaultyNode(chain.url).start();
    await using other = await new FaultyNode(chain.url).start();
    other.fault = { kind: "lacks-contracts" };
    const factsFile = join(directory, "chain.sqlite");
    for (const urls of IS_SOAK ? [[node.url], [node.url, other.url]] : [[node.url, other.url]]) {
      node.fault = { kind: "lies-about-decimals" };
      {
        await using deceived = new Collector({ network, urls, factsFile });
        await deceived.reached(untilMs);
        expect(deceived.facts).not.toEqual(market.events);
      }
      node.fault = { kind: "none" };
      await using collector = new Collector({ network, urls: [node.url], factsFile });
      await collector.reached(untilMs);
      expect(collector.facts).toEqual(market.events);
    }
  });
});
