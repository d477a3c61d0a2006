import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { AGGREGATED, listUrl, readPools } from "../../../src/feeds/aggregator/gecko-terminal.ts";
import { NETWORKS } from "../../../src/feeds/chain/networks.ts";
import { Unread } from "../../../src/feeds/service/unread.ts";
import { listOf, type StandInPool } from "./stand-in.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const TOKEN = `0x${"ab".repeat(20)}`;
const [BSC] = AGGREGATED;
if (!BSC) throw new Error("BSC is not aggregated");

const read = (...pools: readonly StandInPool[]) => readPools(listOf("bsc", pools), BSC, NOW);

describe("GeckoTerminal's lists of pools", () => {
  test("are requested for pools that trend over five minutes, and for the newest pools", () => {
    expect(listUrl("https://a.example/api/v2", BSC, "trending")).toBe(
      "https://a.example/api/v2/networks/bsc/trending_pools?duration=5m&include=base_token&page=1",
    );
    expect(listUrl("https://a.example/api/v2", BSC, "new")).toBe(
      "https://a.example/api/v2/networks/bsc/new_pools?include=base_token&page=1",
    );
  });

  test("become reports with past prices, counts, liquidity and the token's names", () => {
    const [pool] = read({
      token: TOKEN,
      symbol: "GEM",
      price: "3",
      rose: ["50", "100", "200"],
      coin: "gem-coin",
      reserve: "81000.5",
      createdAt: "2026-11-22T11:00:00Z",
      m5: [30, 4, 25, 3, "900.5"],
      h1: [60, 20, 44, 12, "2000"],
      h24: [90, 50, 60, 30, "4000"],
    });
    expect(pool?.report).toMatchObject({
      kind: "window",
      at: NOW,
      group: "bsc",
      token: TOKEN,
      price: "3",
      liquidity: "81000.5",
      past: { m5: "2", m30: "1.5", h1: "1" },
      createdAt: Date.UTC(2026, 10, 22, 11),
    });
    expect(pool?.report.counts.m5).toEqual({ buys: 30, sells: 4, buyers: 25, sellers: 3, usd: "900.5" });
    expect(pool?.profile).toMatchObject({
      group: "bsc",
      token: TOKEN,
      symbol: "GEM",
      name: "GEM coin",
      marketData: { market_id: "gem-coin", image_url: null, name: "GEM coin" },
    });
  });

  test("exclude quote tokens, tokens of other chains and pools without liquidity, and include the rest", () => {
    const quote = NETWORKS.bsc.quotes[0].address;
    const pools = read(
      { token: quote.toUpperCase().replace("0X", "0x"), symbol: "WBNB" },
      { token: TOKEN, symbol: "NULL", reserve: null },
      { token: `0x${"cd".repeat(20)}`, symbol: "OK" },
    );
    expect(pools.map(({ profile }) => profile.symbol)).toEqual(["OK"]);
    const foreign = JSON.parse(JSON.stringify(listOf("avax", [{ token: TOKEN, symbol: "AVAX" }])));
    expect(readPools(foreign, BSC, NOW)).toEqual([]);
  });

  test("are skipped and counted if the pool or its token has no address of the group", () => {
    const unread = new Unread();
    const bad = { symbol: "BAD", token: `0x${"cd".repeat(20)}` };
    const pools = readPools(
      listOf("bsc", [
        { ...bad, pool: "7GCihgDB8fe6KNjn2MYtkzZcRjQy3t9GHdC8uHYmW2hr" },
        { ...bad, pool: "<b>pool</b>" },
        { ...bad, token: "7GCihgDB8fe6KNjn2MYtkzZcRjQy3t9GHdC8uHYmW2hr" },
        { ...bad, token: "native" },
        { token: TOKEN, symbol: "OK" },
      ]),
      BSC,
      NOW,
      unread,
    );
    expect(pools.map(({ profile }) => profile.symbol)).toEqual(["OK"]);
    expect(unread.counts).toEqual({ "reports: its pool or token has no address of bsc": 4 });
  });

  test("are rejected if they are not a list, or if no pool has the expected form", () => {
    expect(() => readPools({ errors: [{ status: "404" }] }, BSC, NOW)).toThrow("no list of pools");
    expect(() => readPools({ data: [{ attributes: {} }] }, BSC, NOW)).toThrow("without valid pools");
    expect(() => readPools(null, BSC, NOW)).toThrow("no list of pools");
  });

  test("stay usable with a price that fell to a millionth, and with a pool id of 32 bytes", () => {
    const [pool] = read({
      token: TOKEN,
      symbol: "DUST",
      price: "0.00000001",
      rose: ["-99.9999", "0", "0"],
      pool: `0x${"1".repeat(64)}`,
    });
    expect(pool?.report.past.m5).toBe("0.01");
    expect(pool?.report.pool).toBe(`0x${"1".repeat(64)}`);
  });
});

const recordings = fileURLToPath(
  new URL("../../../../shared/data/api-responses/geckoterminal/", import.meta.url),
);

describe.skipIf(!existsSync(recordings))(
  "recorded answers of GeckoTerminal (../shared/data/api-responses)",
  () => {
    test("are read although they lack the change over half an hour, for which that over an hour stands in", () => {
      const body = JSON.parse(readFileSync(`${recordings}get_new_pools_by_network.json`, "utf8"));
      const pools = readPools(body, { id: "eth", group: "bsc", quotes: [] }, NOW);
      expect(pools.length).toBeGreaterThan(0);
      for (const { report } of pools) expect(report.past.m30).toBe(report.past.h1);
    });
  },
);

test("a change over half an hour that is null is not taken for an absent one", () => {
  const body = listOf("bsc", [{ token: TOKEN, symbol: "GEM" }]);
  const [pool] = body.data;
  const whole = (m30: object) => ({
    ...body,
    data: [
      {
        ...pool,
        attributes: { ...pool?.attributes, price_change_percentage: { m5: "0", h1: "100", ...m30 } },
      },
    ],
  });
  expect(readPools(whole({}), BSC, NOW)[0]?.report.past.m30).toBe("0.625");
  expect(() => readPools(whole({ m30: null }), BSC, NOW)).toThrow("m30 is null");
});
