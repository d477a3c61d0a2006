import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import type { Clock } from "../../../src/base/lib/time/clock.ts";
import { HOUR_MS } from "../../../src/base/lib/time/time.ts";
import type { MarketEvent, Profile } from "../../../src/base/market/index.ts";
import { createEnrichers } from "../../../src/feeds/enrich/create-enrichers.ts";
import { enrichFeed } from "../../../src/feeds/enrich/enrich-feed.ts";
import { ENRICHERS, type EnricherName } from "../../../src/feeds/enrich/enricher.ts";
import { coingecko, coingeckoHeaders, dexscreener, etherscan } from "../../../src/feeds/enrich/services.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { Refusal, UnexpectedAnswer } from "../../../src/feeds/service/service-client.ts";
import type { Feed } from "../../../src/gateway/source/feed.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { test as base } from "../../support/time/still-running.ts";
import type { Mischief } from "../exchange/mischief.ts";
import { play, recording } from "../record/record-kit.ts";
import { LeapingClock } from "../replay/replay-kit.ts";
import { COIN_KEY, FREE_KEY, KEY, KNOWN, SHADY, STRANGER, StandInServices } from "./stand-in-services.ts";

const START = Date.UTC(2026, 0, 1);

/** The time limit of a request to a service. */
const REQUEST_MS = 30_000;
const FACTOR = 100;

/** Hastens waits, but no request's time limit: one that hangs outlasts its test. */
class PatientClock extends PacedClock {
  override sleep(ms: number, signal: AbortSignal): Promise<void> {
    return super.sleep(ms === REQUEST_MS ? FACTOR * HOUR_MS : ms, signal);
  }
}

/** A market in which three tokens trade each second, for ever. */
function market(clock: Clock): Feed {
  return {
    name: "three",
    origin: "live",
    facts: { trades: true, liquidity: false, listings: false, profiles: false },
    async *events(signal) {
      for (let at = START; !signal.aborted; at += 1_000) {
        for (const token of [KNOWN, SHADY, STRANGER]) {
          const trade = { kind: "trade", at, group: "bsc", pool: "0x1", token, side: "buy" } as const;
          yield { ...trade, price: "1", amount: "1", quoteUsd: "1", trader: "0x2" };
        }
        yield { kind: "clock", at };
        await clock.sleep(1_000, signal).catch(() => {});
      }
    },
  };
}

interface Kit {
  readonly services: StandInServices;
  readonly notices: string[];
  readonly reported: MarketEvent[];
  readonly feed: Feed;
  /** Reads on until this holds. */
  readonly until: (holds: () => boolean) => Promise<void>;
  readonly leave: () => Promise<void>;
}

const test = base.extend<{
  directory: string;
  kit: (names?: readonly EnricherName[], directory?: string, services?: StandInServices) => Promise<Kit>;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: the runner demands a pattern
  directory: async ({}, use) => {
    const directory = mkdtempSync(join(tmpdir(), "flarewire-enrich-"));
    await use(directory);
    rmSync(directory, { recursive: true });
  },
  // biome-ignore lint/correctness/noEmptyPattern: the runner demands a pattern
  kit: async ({}, use) => {
    const closers: (() => Promise<void>)[] = [];
    await use(async (names = ENRICHERS, directory = undefined, given = undefined) => {
      const services = given ?? (await new StandInServices().listen());
      if (!given) closers.unshift(() => services[Symbol.asyncDispose]());
      const clock = new PatientClock(FACTOR, START);
      const notices: string[] = [];
      const reported: MarketEvent[] = [];
      const stop = new AbortController();
      const enrichers = createEnrichers({
        names,
        urls: services.urls,
        keys: { etherscan: KEY, coingecko: COIN_KEY },
        directory,
        clock,
        notify: (_level, sentence) => notices.push(sentence),
      });
      const feed = enrichFeed(market(clock), enrichers, clock);
      const events = feed.events(stop.signal)[Symbol.asyncIterator]();
      const until = async (holds: () => boolean) => {
        while (!holds()) {
          const next = await events.next();
          if (next.done) throw new Error("the market ended");
          reported.push(next.value);
        }
      };
      const leave = async () => {
        stop.abort();
        while (!(await events.next()).done);
      };
      closers.unshift(leave);
      return { services, notices, reported, feed, until, leave };
    });
    for (const close of closers) await close();
  },
});

const profilesOf = (reported: readonly MarketEvent[], token: string) =>
  reported.filter((event): event is Profile => event.kind === "profile" && event.token === token);
const merged = (reported: readonly MarketEvent[], token: string) =>
  Object.assign({}, ...profilesOf(reported, token)) as Profile;

describe("facts from services", () => {
  test("are emitted for trading tokens, after a clock, each once", async ({ kit }) => {
    const { reported, until, services, feed } = await kit();
    await until(() => Object.keys(merged(reported, KNOWN)).length === 7 && services.count("etherscan") >= 3);
    expect(merged(reported, KNOWN)).toMatchObject({
      marketData: { market_id: "known-coin", image_url: null, name: "Known" },
      socialData: {
        chat_url: "https://discord.gg/known",
        microblog_url: "https://x.com/known",
        website_url: "https://known.example",
      },
      contractSource: "verified",
    });
    await until(
      () =>
        profilesOf(reported, SHADY).length > 0 &&
        profilesOf(reported, STRANGER).length > 0 &&
        services.count("sourcify") >= 3,
    );
    expect(merged(reported, SHADY)).toEqual(expect.objectContaining({ contractSource: "unverified" }));
    expect(Object.keys(merged(reported, STRANGER))).toEqual([
      "kind",
      "at",
      "group",
      "token",
      "contractSource",
    ]);
    let clock = 0;
    for (const event of reported) {
      expect(event.at).toBeGreaterThanOrEqual(clock);
      if (event.kind === "clock") clock = event.at;
      if (event.kind === "profile") expect(event.at).toBe(clock);
    }
    expect(feed.facts.profiles).toBe(true);
    const asked = services.asked.length;
    const many = reported.length;
    await until(() => reported.length > many + 200);
    expect(services.asked.slice(asked)).toEqual([]);
  });

  test("a contract counts as verified if one of two services has its source", async ({ kit }) => {
    const { reported, until, services } = await kit(["sourcify", "etherscan"]);
    // Etherscan reports the same contract as unverified.
    await until(
      () => merged(reported, KNOWN).contractSource === "verified" && services.count("etherscan") >= 3,
    );
    const last = profilesOf(reported, KNOWN)
      .filter(({ contractSource }) => contractSource !== undefined)
      .at(-1);
    expect(last?.contractSource).toBe("verified");
  });

  test("come from CoinGecko with a key, in the header of its host", async ({ kit }) => {
    const { reported, until, services } = await kit(["coingecko"]);
    await until(() => merged(reported, KNOWN).marketData !== undefined);
    expect(services.asked.map(({ key }) => key)).toEqual([COIN_KEY]);
    expect(JSON.stringify(reported)).not.toContain(COIN_KEY);
    const demo = { "x-cg-demo-api-key": COIN_KEY };
    expect(coingeckoHeaders("https://api.coingecko.com", COIN_KEY)).toEqual(demo);
    expect(coingeckoHeaders("https://pro-api.coingecko.com", COIN_KEY)).toEqual({
      "x-cg-pro-api-key": COIN_KEY,
    });
    expect(coingeckoHeaders("https://api.coingecko.com", undefined)).toEqual({});
  });

  test("survive a restart without another request", async ({ kit, directory }) => {
    await using services = await new StandInServices().listen();
    const first = await kit(ENRICHERS, directory, services);
    await first.until(
      () =>
        Object.keys(merged(first.reported, KNOWN)).length === 7 &&
        services.count("etherscan") >= 3 &&
        services.count("sourcify") >= 3,
    );
    await first.leave();
    const asked = services.asked.length;
    const second = await kit(ENRICHERS, directory, services);
    await second.until(() => Object.keys(merged(second.reported, KNOWN)).length === 7);
    expect(services.asked.slice(asked)).toEqual([]);
    await second.leave();
    writeFileSync(join(directory, "enrich-dexscreener.json"), '{"version":1,"entr');
    const third = await kit(["dexscreener"], directory, services);
    await third.until(() => merged(third.reported, KNOWN).socialData !== undefined);
    await third.leave();
    expect(readFileSync(join(directory, "enrich-dexscreener.json"), "utf8")).toContain("known.example");
    expect(statSync(join(directory, "enrich-sourcify.json")).mode & 0o077).toBe(0);
    for (const name of ENRICHERS)
      expect(readFileSync(join(directory, `enrich-${name}.json`), "utf8")).not.toContain(KEY);
  });

  test("[L4] are part of a recording, which replays to the same bytes without the services", async ({
    kit,
    directory,
  }) => {
    const { feed, services } = await kit();
    const { recorder, feed: recorded } = recording(feed, directory);
    const stop = new AbortController();
    let reported = 0;
    const live = await play({
      ...recorded,
      async *events() {
        for await (const event of recorded.events(stop.signal)) {
          yield event;
          if (event.kind === "profile") reported += 1;
          if (reported >= 3) return;
        }
      },
    });
    await services[Symbol.asyncDispose]().catch(() => {});
    const again = new ReplayFeed({
      path: recorder.directory,
      speed: Number.POSITIVE_INFINITY,
      clock: new LeapingClock(),
    });
    expect(await play(again)).toEqual(live);
    expect(reported).toBeGreaterThanOrEqual(3);
  });
});

describe("a service that is down", () => {
  test.for(
    ENRICHERS.flatMap((name) =>
      (["429 after", "500", "cut", "html", "types"] satisfies Mischief[]).map(
        (mischief) => [name, mischief] as const,
      ),
    ),
  )(
    "affects neither the market nor other services, is reported, and is retried: %s %s",
    async ([name, mischief], { kit }) => {
      const { reported, until, services, feed, notices } = await kit();
      services.mischief.set(name, mischief);
      await until(() => feed.trouble?.() !== undefined);
      expect(feed.trouble?.()).toMatch(new RegExp(`(^|; )${name} (returned|broke off)`));
      const others = name === "coingecko" ? "dexscreener" : "coingecko";
      await until(
        () => services.count(others) > 0 && reported.filter(({ kind }) => kind === "clock").length > 3,
      );
      services.mischief.delete(name);
      await until(() => feed.trouble?.() === undefined);
      expect(notices).toContain(`${name} responds again`);
    },
  );

  test("distinguishes a rate limit of Etherscan from an unverified contract, and never shows its key", async ({
    kit,
  }) => {
    const { reported, until, services, feed, notices } = await kit(["etherscan"]);
    services.mischief.set("etherscan", "notok");
    await until(() => feed.trouble?.() !== undefined);
    expect(feed.trouble?.()).toBe("etherscan returned NOTOK (Max rate limit reached)");
    services.mischief.set("etherscan", "bad key");
    await until(() => /Invalid/.test(feed.trouble?.() ?? ""));
    expect(reported.filter(({ kind }) => kind === "profile")).toEqual([]);
    services.mischief.delete("etherscan");
    await until(() => merged(reported, SHADY).contractSource === "unverified");
    expect(JSON.stringify(notices) + JSON.stringify(reported)).not.toContain(KEY);
  });

  test.for([
    ["NOTOK", FREE_KEY],
    [FREE_KEY, ""],
    ["NOTOK", "Missing or unsupported chainid parameter (required for v2 api), please see chainlist"],
  ])("refuses a chain to a free key of Etherscan: %s %s", ([message, result]) => {
    const { read } = etherscan("https://e.example", KEY);
    expect(() => read({ status: "0", message, result }, ["0x1"], "matic")).toThrow(Refusal);
    const limit = { status: "0", message: "NOTOK", result: "Max rate limit reached" };
    expect(() => read(limit, ["0x1"], "matic")).toThrow(UnexpectedAnswer);
  });

  test("that hangs delays nothing, not even the end", async ({ kit }) => {
    const { until, services, reported, leave } = await kit();
    for (const name of ENRICHERS) services.mischief.set(name, "hang");
    await until(
      () => services.asked.length >= 3 && reported.filter(({ kind }) => kind === "clock").length > 20,
    );
    // An end that waits for one of the hung requests fails.
    await leave();
  });
});

/** Answers that were recorded from the services; they are not part of the project. */
const recordings = fileURLToPath(new URL("../../../../shared/data/api-responses/", import.meta.url));
const recorded = (name: string): unknown => JSON.parse(readFileSync(`${recordings}${name}`, "utf8"));

describe.skipIf(!existsSync(recordings))(
  "recorded answers of the services (../shared/data/api-responses)",
  () => {
    test("etherscan: verified, behind a proxy, and not verified", () => {
      const { read } = etherscan("https://e.example", KEY);
      const said = (name: string) => read(recorded(`etherscan/${name}.json`), ["0x1"], "matic").get("0x1");
      expect(said("get_contract_response_not_verified")).toEqual({ contractSource: "unverified" });
      for (const name of ["get_contract_response_flattened", "get_proxy_contract_response"])
        expect(said(name), name).toEqual({ contractSource: "verified" });
    });

    test("coingecko and dexscreener have the expected form", () => {
      const coins = recorded("coingecko/coins_list.json") as object[];
      const bsc = { ...coins[1], platforms: { "binance-smart-chain": KNOWN } };
      expect(
        coingecko("https://c.example")
          .read([...coins, bsc])
          .get(`bsc/${KNOWN.toLowerCase()}`)?.marketData?.market_id,
      ).toBe("ondo-finance");
      const { pairs } = recorded("dexscreener/bsc_pairs_2026.json") as {
        pairs: { baseToken: { address: string }; info?: { socials?: unknown[]; websites?: unknown[] } }[];
      };
      const linked = new Set(
        pairs.filter(({ info }) => (info?.socials ?? []).length + (info?.websites ?? []).length > 0),
      );
      const facts = dexscreener("https://d.example").read(pairs, [], "bsc");
      expect(facts.size).toBe(new Set(pairs.map(({ baseToken }) => baseToken.address.toLowerCase())).size);
      expect([...facts.values()].some(({ socialData }) => socialData !== null)).toBe(linked.size > 0);
    });
  },
);

test("a pair of DexScreener may lack either list of links, but neither list may be null", () => {
  const baseToken = { address: `0x${"1".repeat(40)}` };
  const { read } = dexscreener("https://d.example");
  const linksOf = (info: object) => [...read([{ baseToken, info }], [], "bsc").values()][0]?.socialData;
  const url = "https://a.example";
  expect(linksOf({ websites: [{ url }] })?.website_url).toBe(url);
  expect(linksOf({ socials: [{ type: "twitter", url }] })?.microblog_url).toBe(url);
  expect(() => linksOf({ websites: null })).toThrow("info.websites is null");
});

test("a coin of CoinGecko has its market in the group of each chain that has the token", () => {
  const at = (digit: string) => `0x${digit.repeat(40)}`;
  const platforms = {
    "binance-smart-chain": at("1"),
    "polygon-pos": at("2"),
    avalanche: at("3"),
    solana: at("4"),
  };
  const facts = coingecko("https://c.example").read([{ id: "coin", name: "Coin", symbol: "c", platforms }]);
  expect([...facts.keys()]).toEqual([`bsc/${at("1")}`, `matic/${at("2")}`, `avalanche/${at("3")}`]);
  for (const { marketData } of facts.values()) expect(marketData?.market_id).toBe("coin");
});
