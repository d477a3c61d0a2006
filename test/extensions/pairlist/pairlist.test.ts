import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { readPairQuery } from "../../../src/extensions/pairlist/pair-query.ts";
import { FRESH, test } from "../../gateway/http/rest/rest-fixture.ts";
import { chartOf, flaresOf } from "./exchange-market.ts";

const LIST = "/api/v1/pairlist?list=chart";

test("a pair list has the format that freqtrade's RemotePairList reads", async ({ rest }) => {
  rest.head.move(chartOf(["BTC", "SOL"]));
  const { status, headers, json } = await rest.ask("GET", `${LIST}&quote=usdt`);
  expect(status).toBe(200);
  // freqtrade checks for this type, regardless of the status.
  expect(headers["content-type"]).toContain("application/json");
  expect(json).toEqual({ pairs: ["BTC/USDT", "SOL/USDT"], refresh_period: 10, state: "live" });
  expect((await rest.ask("GET", `${LIST}&quote=usdc&settle=usdc`)).json).toMatchObject({
    pairs: ["BTC/USDC:USDC", "SOL/USDC:USDC"],
  });
});

test("the pairs are those of the exchange's flares, newest first, by exchange and quote", async ({
  rest,
}) => {
  rest.head.move(
    flaresOf(["binance:SOL/USDT", "kucoin:BTC/USDC", "ETH", "binance:BTC/USDT"], ["kucoin:BTC/USDC"]),
  );
  const pairs = async (query: string) => {
    const { json } = await rest.ask("GET", `/api/v1/pairlist${query}`);
    return (json as { readonly pairs: readonly string[] }).pairs;
  };
  expect(await pairs("")).toEqual(["SOL/USDT", "BTC/USDC", "ETH/USDT", "BTC/USDT"]);
  expect(await pairs("?list=free")).toEqual(["BTC/USDC"]);
  // A flare without a pair, as from a recording, matches every exchange and quote.
  expect(await pairs("?exchange=Binance&quote=usdt")).toEqual(["SOL/USDT", "ETH/USDT", "BTC/USDT"]);
  expect(await pairs("?quote=USDC&settle=USDC")).toEqual(["BTC/USDC:USDC", "ETH/USDC:USDC"]);
});

test("without fresh data, no pair is listed, and state is not live", async ({ rest }) => {
  rest.head.move(chartOf(["BTC"]));
  const live = await rest.ask("GET", LIST);
  for (const state of ["stale", "down"] as const) {
    rest.freshness = { ...FRESH, state };
    const { status, json } = await rest.ask("GET", LIST);
    expect([status, json]).toEqual([200, { pairs: [], refresh_period: 10, state }]);
    expect((await rest.ask("GET", `${LIST.replace("chart", "any")}`)).json).toMatchObject({ pairs: [] });
  }
  rest.freshness = FRESH;
  const again = await rest.ask("GET", LIST, { "if-none-match": String(live.headers.etag) });
  expect(again.status).toBe(304);
});

test("freqtrade does not parse a problem as JSON, and then keeps its list or fails", async ({ rest }) => {
  rest.head.ready = false;
  const { status, headers } = await rest.ask("GET", LIST);
  expect(status).toBe(503);
  expect(headers["content-type"]).not.toContain("application/json");
});

test("the list any accepts every pair while the server has fresh data", async ({ rest }) => {
  expect((await rest.ask("GET", "/api/v1/pairlist?list=any&quote=USDT")).json).toMatchObject({
    pairs: [".*/USDT"],
  });
});

test("a symbol that would be a pattern for freqtrade is not listed", async ({ rest }) => {
  rest.head.move(chartOf([".*", "BTC", "(", "A|B", "A/B", "币安人生", "1000SATS", "BTC"]));
  expect((await rest.ask("GET", LIST)).json).toMatchObject({
    pairs: ["BTC/USDT", "币安人生/USDT", "1000SATS/USDT"],
  });
});

test("every URL and token in the document's configurations is valid", async ({ rest }) => {
  const text = readFileSync("examples/integrations/README.md", "utf8");
  const urls = [...text.matchAll(/"pairlist_url": "http:\/\/127\.0\.0\.1:8080([^"]*)"/g)];
  expect(urls).not.toEqual([]);
  for (const [, url = ""] of urls) expect((await rest.ask("GET", url)).status).toBe(200);
  const tokens = [...text.matchAll(/"ws_token": "([^"]*)"/g)];
  expect(tokens).not.toEqual([]);
  for (const [, token = ""] of tokens)
    readPairQuery(Object.fromEntries(new URLSearchParams(`token=${token}`)));
});

test("invalid and unknown parameters are rejected with the valid values", async ({ rest }) => {
  for (const [query, field] of [
    ["list=best", "list"],
    ["quote=US%24", "quote"],
    ["exchange=a&exchange=b", "exchange"],
    ["settle=", "settle"],
    ["qoute=USDT", "qoute"],
  ]) {
    const { status, json } = await rest.ask("GET", `/api/v1/pairlist?${query}`);
    expect([status, json]).toEqual([400, expect.objectContaining({ field, bound: expect.any(String) })]);
  }
});
