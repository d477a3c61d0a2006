import { resolve } from "node:path";
import { expect, test } from "vitest";
import { createConfig, type GivenSettings } from "../../src/app/config/config.ts";
import { identityOf } from "../../src/app/open-source.ts";
import { VERSION } from "../../src/base/lib/version.ts";

const { v8 } = process.versions;
const LIVE = ["exchange", "aggregator", "bsc", "polygon", "avalanche"];
const EXCHANGES = { exchanges: ["binance", "kucoin", "gate"], exchangeQuotes: ["USDT", "USDC"] };

/** The fields are in the order in which they are stored. */
const CASES: readonly (readonly [GivenSettings, name: string, fingerprint: object])[] = [
  [{}, "simulated", { feed: "simulated", seed: 3, refreshMs: 5_000, version: VERSION, v8 }],
  [{ seed: 7 }, "simulated 7", { feed: "simulated", seed: 7, refreshMs: 5_000, version: VERSION, v8 }],
  [
    { feed: "exchange", refresh: "10s", enrich: "sourcify" },
    "exchange",
    { feed: "exchange", ...EXCHANGES, refreshMs: 10_000, enriched: true },
  ],
  [
    { feed: "chain", chain: "polygon" },
    "chain polygon",
    { feed: "chain", chain: "polygon", refreshMs: 5_000 },
  ],
  [{ feed: "live" }, "live", { feed: "live", live: LIVE, ...EXCHANGES, refreshMs: 5_000, enriched: true }],
  [
    { feed: "live", live: "aggregator", enrich: "none" },
    "live",
    { feed: "live", live: ["aggregator"], ...EXCHANGES, refreshMs: 5_000 },
  ],
  [
    { file: "package.json", loop: true, group: "bsc" },
    `replay ${resolve("package.json")}`,
    {
      feed: "replay",
      file: expect.stringMatching(/^\d+ [\w-]{43}$/),
      profiles: "",
      group: "bsc",
      loop: true,
      refreshMs: 5_000,
    },
  ],
];

test.each(CASES)("a state that an earlier version stored for %j resumes", (settings, name, fingerprint) => {
  const identity = identityOf(createConfig(settings), undefined);
  expect([identity.name, identity.needsEngine]).toEqual([name, true]);
  const stored = JSON.parse(identity.fingerprint);
  expect(stored).toEqual(fingerprint);
  expect(Object.keys(stored)).toEqual(Object.keys(fingerprint));
});

test("a source without an engine is identified by its address or its name", () => {
  const polled = {
    name: "http://x.example",
    fingerprint: '{"source":"http://x.example"}',
    needsEngine: false,
  };
  expect(identityOf(createConfig({ source: "http://x.example" }), undefined)).toEqual(polled);
  const given = { name: "own", fingerprint: '{"source":"own"}', needsEngine: false };
  expect(identityOf(createConfig(), "own")).toEqual(given);
});
