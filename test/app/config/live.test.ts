import { expect, test } from "vitest";
import { loadConfig } from "../../../src/app/config/config.ts";

const load = (args: readonly string[]) => loadConfig({ args }).config;

function failureOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("the configuration was accepted");
}

test("the live market has all parts but the optional ones, and three enrichers, by default; the settings of a part left out are rejected", () => {
  expect(load(["--feed", "live"])).toMatchObject({
    live: ["exchange", "aggregator", "bsc", "polygon", "avalanche"],
    enrich: ["coingecko", "sourcify", "dexscreener"],
    warmupMs: 600_000,
    bscRpc: [],
  });
  expect(load(["--feed", "exchange"]).enrich).toEqual([]);
  const some = "--feed live --live bsc --enrich none --bsc-rpc https://a.example/KEY,wss://b.example";
  expect(load(some.split(" "))).toMatchObject({
    live: ["bsc"],
    enrich: [],
    bscRpc: ["https://a.example/KEY", "wss://b.example"],
  });
  expect(load(["--feed", "live", "--live", "bsc,base", "--base-rpc", "https://a.example"])).toMatchObject({
    live: ["bsc", "base"],
    baseRpc: ["https://a.example"],
  });
  const idle = failureOf(() =>
    load("--feed live --live bsc --polygon-rpc https://a.example --exchanges gate".split(" ")),
  );
  expect(idle).toContain(
    "polygonRpc (flag --polygon-rpc) has no effect while live does not include its part",
  );
  expect(idle).toContain("exchanges (flag --exchanges) has no effect while live does not include its part");
  expect(failureOf(() => load(["--feed", "chain", "--bsc-rpc", "https://a.example"]))).toContain(
    "bscRpc (flag --bsc-rpc) has no effect on a chain's market: it applies to the live market",
  );
  expect(failureOf(() => load(["--feed", "live", "--warmup", "13h"]))).toContain(
    "at most 12h with feed = live",
  );
});
