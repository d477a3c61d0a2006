import { expect, vi } from "vitest";
import type { Candle, ExchangeFlare, Flares, TokenDetails } from "../../../src/base/model/index.ts";
import { formatCursor } from "../../../src/base/protocol/index.ts";
import type { FlareFinish } from "../../../src/extensions/history/history-records.ts";
import { createHistoryReader, type HistoryStore } from "../../../src/extensions/history/index.ts";
import type { Rest } from "../../gateway/http/rest/rest-fixture.ts";
import { planByHeader } from "../../support/servers/plan-by-header.ts";
import {
  SAMPLE_BSC_CHART_ITEM,
  SAMPLE_CANDLES,
  SAMPLE_EXCHANGE_FLARE,
  SAMPLE_FLARE,
  SAMPLE_LISTING,
  SAMPLE_SNAPSHOT,
} from "../../support/world/samples.ts";
import { finishAt, flareAt, idOf, inGroup, MINUTE_MS, START_MS, whyAt } from "./flare-records.ts";
import { test } from "./history-fixture.ts";

const { token } = SAMPLE_FLARE;
const NO_FLARES = { free: [], pro: [], finished_trending: [] };
const pathOf = (name: string, group = "bsc") => `/api/v1/tokens/${group}/${encodeURIComponent(name)}`;

async function get(rest: Rest, name: string, group?: string, authorization = ""): Promise<TokenDetails> {
  const { status, json } = await rest.ask("GET", pathOf(name, group), { authorization });
  expect([status, json]).toEqual([200, expect.anything()]);
  return json as TokenDetails;
}

const candleAt = (minute: number): Candle => ({
  open_at: new Date(START_MS + minute * MINUTE_MS).toISOString(),
  open: "1",
  high: "2",
  low: "1",
  close: "2",
  volume: "7",
  buys: 1,
  sells: 0,
});

/** Stores the finish of these flares, each in the minute of its number, and candles. */
function store(into: HistoryStore, numbers: readonly number[], minutes: readonly number[] = []): void {
  into.commit({
    cursor: `test1-${numbers.join()}-${minutes.length}`,
    nowMs: START_MS + Math.max(0, ...numbers, ...minutes) * MINUTE_MS,
    starts: [],
    finishes: numbers.map((number) => finishAt(number, number)),
    outcomes: [],
    candles: [{ group: "bsc", address: "0xAb00", candles: minutes.map(candleAt) }],
  });
}

/** Moves the head to this minute, with only these flares. */
function showAt(rest: Rest, minute: number, flares: Partial<Flares> = {}): void {
  rest.head.observedAtMs = START_MS + minute * MINUTE_MS;
  rest.head.move({ ...SAMPLE_SNAPSHOT, flares: { ...NO_FLARES, ...flares }, explanations: {}, outcomes: {} });
}

test("a token of another group that is in no other list has its flare's facts", async ({ served }) => {
  const lone = { ...SAMPLE_EXCHANGE_FLARE, token: { ...SAMPLE_EXCHANGE_FLARE.token, symbol: "LONE" } };
  served.head.move({ "flares.exchange": { ...NO_FLARES, finished_trending: [lone] } });
  const details = await get(served, "LONE", "exchange");
  const { name, price, created_at } = lone.token;
  expect(details).toMatchObject({ group: "exchange", address: null, name, price, created_at });
  expect(details).toMatchObject({ flares: [{ flare: lone }], liquidity: "0", chart: null, candles: [] });
});

test("a flaring token has its facts, ranks, candles and flares", async ({ served }) => {
  const details = await get(served, token.address);
  const { liquidity, market_data, social_data, contract_source } = SAMPLE_FLARE;
  expect(details).toMatchObject({
    group: "bsc",
    ...token,
    liquidity,
    market_data,
    social_data,
    contract_source,
  });
  expect(details).toMatchObject({ as_of: null, canary: false, chart: { rank: 1, streak: 7 } });
  expect(details.leaderboard).toEqual({ rank: 1, time_trended: 5_400, average_position: 2.5 });
  expect(details.candles).toEqual(SAMPLE_CANDLES.bsc[token.address]);
  const why = served.head.snapshot.explanations[SAMPLE_FLARE.id];
  expect(details.flares[0]).toEqual({ flare: SAMPLE_FLARE, started: null, why, cause: null, outcome: null });
  expect(details.flares[1]).toMatchObject({
    flare: SAMPLE_SNAPSHOT.flares.finished_trending[0],
    cause: "upstream",
  });
  expect(details.flares).toHaveLength(2);
});

test.for([
  ["exchange", "BCC", { address: null, price: "0.19", chart: { rank: 1 } }],
  ["exchange", "bcc", { address: null }],
  ["matic", "0x00FF", { symbol: "QCK", address: "0x00ff", name: "Quick", leaderboard: { rank: 1 } }],
  ["avalanche", "qck", { symbol: "QCK", chart: { latest_candle_prices: [-1.5, 0, 2.25] } }],
  ["bsc", token.address.toUpperCase().replace("0X", "0x"), { symbol: "UNI" }],
  ["bsc", "uni", { address: token.address }],
] as const)("%s/%s is found, in any case", async ([group, name, expected], { served }) => {
  expect(await get(served, name, group)).toMatchObject({ group, ...expected });
});

test("a token of another group has its running and past flares, and no candles", async ({
  served,
  store: history,
}) => {
  const { pro, finished_trending } = SAMPLE_SNAPSHOT["flares.exchange"];
  const { flare: ofBsc, ...rest } = finishAt(300, 300);
  const past = { ...inGroup(ofBsc, "exchange"), token: SAMPLE_EXCHANGE_FLARE.token };
  const onMatic = inGroup({ ...ofBsc, id: idOf(301) }, "matic");
  const nowMs = START_MS + 300 * MINUTE_MS;
  history.commit({
    cursor: "test1-1",
    nowMs,
    starts: [],
    outcomes: [],
    finishes: [{ flare: past, ...rest } as FlareFinish],
    // A token may have the same address on two chains.
    candles: [{ group: "bsc", address: "0xAb00", candles: [300].map(candleAt) }],
  });
  served.head.observedAtMs = nowMs;
  const details = await get(served, "btc", "exchange");
  expect(details).toMatchObject({ symbol: "BTC", address: null, as_of: null, candles: [], canary: null });
  expect(details.flares.map(({ flare }) => flare)).toEqual([...pro, ...finished_trending, past]);
  expect(details.flares.map(({ cause }) => cause)).toEqual([null, "upstream", "faded"]);
  expect((await served.ask("GET", pathOf("0xab00", "matic"))).status).toBe(404);
  history.commit({
    cursor: "test1-2",
    nowMs,
    starts: [],
    outcomes: [],
    finishes: [{ flare: onMatic, ...rest, outcome: null }],
  });
  expect(await get(served, "tok0", "matic")).toMatchObject({
    group: "matic",
    address: "0xAb00",
    as_of: onMatic.finished_trending_at,
    candles: [],
    flares: [{ flare: { group: "matic" } }],
  });
  expect((await served.ask("GET", pathOf("0xab00"))).status).toBe(404);
});

test("a group's label instead of its name gets a 404 with the name", async ({ served }) => {
  const { status, json } = await served.ask("GET", pathOf("cake", "Polygon"));
  expect([status, json]).toEqual([404, expect.objectContaining({ field: "group" })]);
  expect(json).toHaveProperty("detail", expect.stringContaining('"Polygon" (did you mean matic?); it'));
});

test("symbols of the exchange that differ only in case name two tokens", async ({
  served,
  store: history,
}) => {
  const finishOf = (number: number, symbol: string) => {
    const { flare, ...rest } = finishAt(number, 300);
    const { token: own, ...facts } = inGroup(flare, "exchange") as ExchangeFlare;
    return { flare: { ...facts, token: { ...own, symbol } }, ...rest };
  };
  history.commit({
    cursor: "test1-1",
    nowMs: START_MS,
    starts: [],
    outcomes: [],
    finishes: [finishOf(1, "Abc"), finishOf(2, "ABC")],
  });
  for (const symbol of ["Abc", "ABC"])
    expect((await get(served, symbol, "exchange")).flares).toMatchObject([{ flare: { token: { symbol } } }]);
  expect((await served.ask("GET", pathOf("abc", "exchange"))).json).toMatchObject({
    bound: "one of ABC, Abc",
  });
});

test("a token in the history has the facts of its last flare and the candles around its flares", async ({
  served,
  store: history,
}) => {
  // Flares of one token start ten minutes before these times. Candles follow for two hours.
  store(history, [300, 330], [229, 230, 300, 440, 441, 1_000]);
  showAt(served, 1_600);
  const details = await get(served, "0xAB00");
  const end = new Date(START_MS + 330 * MINUTE_MS).toISOString();
  expect(details).toMatchObject({ symbol: "Tok0", address: "0xAb00", as_of: end, chart: null, canary: null });
  expect(details.flares.map(({ flare }) => flare.finished_trending_at)).toEqual([
    end,
    new Date(START_MS + 300 * MINUTE_MS).toISOString(),
  ]);
  expect(details.candles.map(({ open_at }) => (Date.parse(open_at) - START_MS) / MINUTE_MS)).toEqual([
    230, 300, 440,
  ]);
  showAt(served, 1_441 + 230);
  expect((await get(served, "tok0")).candles).toHaveLength(2);
});

test("the last hour of candles is that at the response's cursor", async ({ served, store: history }) => {
  const running = { ...flareAt(300, 400), finished_trending_at: null };
  store(history, [], [380, 398, 399]);
  showAt(served, 402, { pro: [running] });
  const late = { ...candleAt(399), volume: "9" };
  served.head.move({
    candles: { closed_at: candleAt(402).open_at, bsc: { "0xAb00": [late, candleAt(401)] } },
  });
  const { candles } = await get(served, "0xab00");
  expect(candles).toEqual([candleAt(380), candleAt(398), late, candleAt(401)]);
});

test("an unknown token, group or name is not found", async ({ served }) => {
  for (const path of [
    pathOf("0xdead"),
    pathOf("nothing"),
    pathOf("__proto__"),
    pathOf("uni", "exchange"),
    pathOf(token.address, "exchange"),
    pathOf("uni", "eth"),
    "/api/v1/tokens/bsc",
    "/api/v1/tokens/bsc/",
  ])
    expect([path, (await served.ask("GET", path)).status]).toEqual([path, 404]);
  expect((await served.ask("GET", "/api/v1/tokens/bsc/%zz")).status).toBe(400);
  const long = await served.ask("GET", pathOf("x".repeat(2_000)));
  expect(long.status).toBe(414);
  // The message contains only part of the address.
  expect(long.body.length).toBeLessThan(500);
  expect((await served.ask("GET", `${pathOf("uni")}?at=2026-01-01T00:00Z`)).json).toMatchObject({
    status: 400,
    field: "at",
  });
  const refused = await served.ask("POST", pathOf("A/B"));
  expect([refused.status, refused.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
});

test("a symbol of several tokens selects none of them, and the problem lists them", async ({
  served,
  store: history,
}) => {
  const other = { ...token, symbol: "TOK0", address: "0xBEEF" };
  store(history, [300]);
  served.head.move({ newest: { bsc: [{ ...SAMPLE_LISTING, token: other }] } });
  const { status, json } = await served.ask("GET", pathOf("tok0"));
  expect([status, json]).toEqual([
    404,
    expect.objectContaining({ field: "token", bound: "one of 0xbeef, 0xab00" }),
  ]);
  expect(await get(served, "0xbeef")).toMatchObject({ symbol: "TOK0" });
});

test.for(["A/B", "a b", "50%", "é🔥", '"<b>', "?at=1#x"])(
  "a token with the symbol %s is found",
  async (symbol, { served }) => {
    served.head.move({
      newest: { bsc: [{ ...SAMPLE_LISTING, token: { ...token, symbol, address: "0xBEEF" } }] },
    });
    expect(await get(served, symbol)).toMatchObject({ symbol, address: "0xBEEF" });
  },
);

test("a symbol that looks like an address selects no token", async ({ served }) => {
  const posing = { ...token, symbol: "0xdead", address: "0xBEEF" };
  served.head.move({ newest: { bsc: [{ ...SAMPLE_LISTING, token: posing }] } });
  expect((await served.ask("GET", pathOf("0xdead"))).status).toBe(404);
});

test("the plan free sees no sign of a flare that is only in pro", async ({ makeRest, store: history }) => {
  const rest = await makeRest({ history: createHistoryReader(history), policy: planByHeader });
  const flare = flareAt(300, 400);
  store(history, [], [390, 400]);
  showAt(rest, 402, { pro: [flare] });
  rest.head.move({
    explanations: { [flare.id]: whyAt(400) },
    candles: { closed_at: candleAt(402).open_at, bsc: { "0xAb00": [candleAt(401)] } },
  });
  expect((await get(rest, "tok0", "bsc", "pro")).candles).toHaveLength(3);
  for (const name of ["tok0", "0xab00"]) expect((await rest.ask("GET", pathOf(name))).status).toBe(404);
  // The token is in the chart, and an earlier flare of it has finished.
  const charted = { ...SAMPLE_BSC_CHART_ITEM.flare, token: flare.token };
  rest.head.move({
    charts: { ...SAMPLE_SNAPSHOT.charts, bsc: [{ ...SAMPLE_BSC_CHART_ITEM, flare: charted }] },
  });
  store(history, [30], [35]);
  const seen = await get(rest, "tok0");
  expect([seen.flares.length, seen.candles, seen.warnings]).toEqual([1, [candleAt(35)], []]);
  expect((await get(rest, "tok0", "bsc", "pro")).flares).toHaveLength(2);
});

test("an unchanged token gets 304, and its history is read once a minute", async ({
  makeRest,
  store: history,
}) => {
  const reader = createHistoryReader(history);
  const page = vi.spyOn(reader, "page");
  const rest = await makeRest({ history: reader });
  store(history, [300]);
  showAt(rest, 310);
  const { headers } = await rest.ask("GET", pathOf("0xab00"));
  expect([headers["cache-control"], headers["flarewire-cursor"]]).toEqual([
    "no-cache",
    formatCursor(rest.head.cursor),
  ]);
  const known = { "if-none-match": String(headers.etag) };
  rest.head.move({ newest: { bsc: [] } });
  expect((await rest.ask("GET", pathOf("0xab00"), known)).status).toBe(304);
  expect((await rest.ask("HEAD", pathOf("0xab00"))).headers.etag).toBe(headers.etag);
  expect(page).toHaveBeenCalledTimes(1);
  showAt(rest, 311);
  expect((await rest.ask("GET", pathOf("0xab00"), known)).status).toBe(304);
  expect(page).toHaveBeenCalledTimes(2);
  store(history, [303]);
  expect((await rest.ask("GET", pathOf("0xab00"), known)).status).toBe(200);
});

test("[L2] a flare is complete as soon as it finishes, even before the history has it", async ({
  makeRest,
  store: history,
}) => {
  const rest = await makeRest({ history: createHistoryReader(history) });
  const { flare, outcome } = finishAt(300, 300);
  const running = { ...flare, finished_trending_at: null };
  const started = whyAt(290);
  showAt(rest, 290, { pro: [running] });
  const [before] = (await get(rest, "0xab00")).flares;
  expect(before).toMatchObject({ started: null, cause: null });
  history.commit({
    cursor: "test1-1",
    nowMs: START_MS,
    finishes: [],
    outcomes: [],
    starts: [{ id: flare.id, at: flare.started_trending_at, why: started }],
  });
  expect((await get(rest, "0xab00")).flares[0]).toMatchObject({ started, cause: null });
  showAt(rest, 300, { finished_trending: [flare] });
  store(history, [300]);
  expect((await get(rest, "0xab00")).flares).toEqual([
    expect.objectContaining({ flare, started, cause: "faded", outcome }),
  ]);
});
