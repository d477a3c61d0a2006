import fc from "fast-check";
import { expect, test } from "vitest";
import { type Explanation, FinishCause } from "../../../src/base/model/explanation.ts";
import { GROUPS } from "../../../src/base/model/groups.ts";
import { compileFilter, Filter } from "../../../src/base/protocol/filter.ts";
import { botSamples, describeQuery } from "../../../src/clients/dashboard/parts/bot/bot-samples.ts";
import { flarePageHref, flaresHash, readRoute } from "../../../src/clients/dashboard/route.ts";
import {
  channelOf,
  DEFAULT_QUERY,
  FINISH_CAUSES,
  type FlareQuery,
  formatQuery,
  LIST_OF_CHANNEL,
  minuteOf,
  ORDERS,
  readQuery,
  shownQuery,
} from "../../../src/clients/dashboard/state/flare-query.ts";
import { wantedFlares } from "../../../src/clients/dashboard/state/select-flares.ts";
import { AlertRule } from "../../../src/extensions/alerts/rules/alert-rule.ts";
import { anyText } from "../../support/random/any-text.ts";
import { SAMPLE_EXCHANGE_FLARE, SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../support/world/samples.ts";

const SERVER = new URL("http://127.0.0.1:8080/below/");
const name = anyText({ minLength: 1, maxLength: 12 }).map((text) =>
  text.toLowerCase().replace(/[,\s]|\p{Cs}/gu, "x"),
);
const names = fc.uniqueArray(name, { maxLength: 3 });
const anyQueries: fc.Arbitrary<FlareQuery> = fc.record({
  group: fc.constantFrom(...GROUPS),
  channel: fc.constantFrom(...(Object.keys(LIST_OF_CHANNEL) as (keyof typeof LIST_OF_CHANNEL)[])),
  search: fc.string({ maxLength: 20, unit: "grapheme" }),
  order: fc.constantFrom(...ORDERS),
  hidesWarned: fc.boolean(),
  minLiquidity: fc.option(fc.integer({ min: 0, max: 1e9 }), { nil: undefined }),
  minPriceChange: fc.option(fc.integer({ min: -100, max: 1_000 }), { nil: undefined }),
  minAge: fc.option(fc.nat(1e6), { nil: undefined }),
  minLocked: fc.option(fc.constantFrom(0, 0.5, 0.9, 1), { nil: undefined }),
  tokens: names,
  symbols: names,
  cause: fc.constantFrom(undefined, ...FINISH_CAUSES),
  at: fc.option(
    fc.nat(30_000_000).map((minute) => minuteOf(minute * 60_000)),
    { nil: undefined },
  ),
});
/** Exchanges report no liquidity, so their queries ignore it. */
const queries = anyQueries.map((query) => {
  if (query.group !== "exchange") return query;
  const order = query.order === "liquidity" ? DEFAULT_QUERY.order : query.order;
  return { ...query, order, minLiquidity: undefined, minLocked: undefined };
});

test("a link to a view opens that view: reading the address of a query returns the query", () => {
  fc.assert(
    fc.property(queries, (query) => {
      expect(readQuery(formatQuery(query))).toEqual(query);
      const page = query.channel === "flares.finished" ? "finished" : "now";
      expect(readRoute(flaresHash(query))).toEqual({ page, query });
    }),
  );
});

test("the address has the API's parameter names, and omits what is default", () => {
  expect(flaresHash(DEFAULT_QUERY)).toBe("#/now");
  const query: FlareQuery = {
    ...DEFAULT_QUERY,
    channel: "flares.finished",
    symbols: ["cake", "uni"],
    minLiquidity: 50_000,
    minPriceChange: 5,
    minAge: 3_600,
    minLocked: 0.9,
  };
  expect(formatQuery(query)).toBe(
    "channels=flares.finished&symbols=cake,uni&min_liquidity=50000&min_price_change=5&min_age=3600&min_locked=0.9",
  );
});

test("symbols are in lower case, and so are addresses unless their case counts", () => {
  const name = "So11111111111111111111111111111111111111112";
  const { tokens, symbols } = readQuery(`tokens=${name},0xAB&symbols=${name},UNI`);
  expect([tokens, symbols]).toEqual([
    [name, "0xab"],
    [name.toLowerCase(), "uni"],
  ]);
});

test("invalid parameters of an address are ignored", () => {
  const given =
    "channels=charts.bsc&order=up&min_liquidity=-1&min_price_change=x&min_age=-1&min_locked=1.1&warnings=1&cause=rug&tokens=,,&at=noon";
  expect(readQuery(given)).toEqual(DEFAULT_QUERY);
});

test("a minimum of liquidity and the order by it are ignored for exchanges, which report none", () => {
  expect(readQuery("group=exchange&min_liquidity=50000&order=liquidity")).toEqual({
    ...DEFAULT_QUERY,
    group: "exchange",
  });
});

test("the page selects the flares that the API's filter selects", () => {
  const flares = [5, 10, 25].flatMap((recent_price_change) =>
    ["CAKE", "Uni"].flatMap((symbol) =>
      ["0", "9999.9", "60000"].map((liquidity, at) => ({
        ...SAMPLE_FLARE,
        id: `${symbol}-${recent_price_change}-${at}`,
        recent_price_change,
        liquidity,
        token: { ...SAMPLE_FLARE.token, symbol, address: `0xAb${at}` },
      })),
    ),
  );
  const lockedOf = (n: number) =>
    n % 3 === 0 ? null : { burned: n % 3 === 1 ? 0.5 : 0.95, held: 0, until: null };
  const ages = [null, 599, 600, 90_000];
  const whys: Readonly<Record<string, Explanation>> = Object.fromEntries(
    flares.map(({ id }, n) => [
      id,
      { ...SAMPLE_EXPLANATION, age_s: ages[n % ages.length] ?? null, locked: lockedOf(n) },
    ]),
  );
  const given: Partial<FlareQuery>[] = [
    { minLiquidity: 9_999.9 },
    { minPriceChange: 10 },
    { symbols: ["uni"] },
    { minAge: 600 },
    { minLocked: 0.9 },
    { tokens: ["0xab1", "0xab2"], minPriceChange: 25 },
  ];
  for (const part of given) {
    const query = { ...DEFAULT_QUERY, ...part };
    const {
      tokens,
      symbols,
      minLiquidity: min_liquidity,
      minPriceChange: min_price_change,
      minAge: min_age,
      minLocked: min_locked,
    } = query;
    const filter = compileFilter({
      ...(tokens.length > 0 && { tokens: [...tokens] }),
      ...(symbols.length > 0 && { symbols: [...symbols] }),
      ...(min_liquidity !== undefined && { min_liquidity }),
      ...(min_price_change !== undefined && { min_price_change }),
      ...(min_age !== undefined && { min_age }),
      ...(min_locked !== undefined && { min_locked }),
    });
    const expected = flares.filter(({ id, token, liquidity, recent_price_change }) => {
      const marks = {
        tokens: [token.address.toLowerCase()],
        symbols: [token.symbol.toLowerCase()],
        highest: {
          min_liquidity: Number(liquidity),
          min_price_change: recent_price_change,
          min_age: whys[id]?.age_s ?? Number.NEGATIVE_INFINITY,
          min_locked: whys[id]?.locked?.burned ?? Number.NEGATIVE_INFINITY,
        },
      };
      return filter?.passes(marks);
    });
    expect(expected.length).toBeGreaterThan(0);
    expect(expected.length).toBeLessThan(flares.length);
    expect(wantedFlares(flares, whys, query)).toEqual(expected);
  }
});

const QUERY: FlareQuery = {
  ...DEFAULT_QUERY,
  search: `it's "$(id)`,
  hidesWarned: true,
  minLiquidity: 50_000,
  symbols: ["cake"],
};

test("each code sample has the filter of the page, in parameters that the API accepts", () => {
  const samples = botSamples(QUERY, SERVER);
  const [url = ""] = /http[^'"]+/.exec(samples.curl.text) ?? [];
  const { searchParams, pathname } = new URL(url);
  expect([pathname, Object.fromEntries(searchParams)]).toEqual([
    "/below/api/v1/events",
    {
      channels: "flares.pro",
      names: "flare-started,flare-surged,flare-finished",
      symbols: "cake",
      min_liquidity: "50000",
    },
  ]);
  const [, filter = ""] = /filter: (\{.*\}),/.exec(samples.typescript.text) ?? [];
  expect(Filter.parse(JSON.parse(filter))).toEqual({
    symbols: ["cake"],
    min_liquidity: 50_000,
    names: ["flare-started", "flare-surged", "flare-finished"],
  });
  const rule = AlertRule.parse(JSON.parse(samples.webhook.text));
  expect([rule.channels, rule.filter]).toEqual([
    ["flares.pro"],
    { symbols: ["cake"], min_liquidity: 50_000 },
  ]);
  for (const kind of ["python", "telegram"] as const) expect(samples[kind].text).toContain(url);
  expect(describeQuery(QUERY)).toBe(
    `Every flare as soon as it starts, its surges and its end: symbol cake, liquidity of at least $50,000, “it's "$(id)” in symbol, name or address, no warning at the start.`,
  );
});

test("each code sample for a cause tests the cause, and the webhook notes that its rule cannot", () => {
  expect(FINISH_CAUSES.toSorted()).toEqual(FinishCause.options.toSorted());
  const query: FlareQuery = { ...DEFAULT_QUERY, channel: "flares.finished", cause: "canary" };
  const { curl, typescript, python, telegram, webhook } = botSamples(query, SERVER);
  expect(curl.text).toContain(`select(.data.cause == "canary")`);
  expect(typescript.text).toContain(`if (event.data.cause !== "canary") continue;`);
  for (const { text } of [python, telegram]) expect(text).toContain(`if event["data"]["cause"] != "canary":`);
  expect(webhook.note).toContain("causes");
  expect(describeQuery(query)).toBe(
    "Every flare that ends, with what its price did: ended as “possible rug”.",
  );
  for (const { text } of Object.values(botSamples({ ...query, channel: "flares.pro" }, SERVER)))
    expect(text).not.toContain("canary");
});

test("code samples without warnings skip starts and surges with a warning, but no ends", () => {
  const query: FlareQuery = { ...DEFAULT_QUERY, hidesWarned: true };
  const { curl, typescript, python, telegram } = botSamples(query, SERVER);
  expect(curl.text).toContain(`select((.name == "flare-finished" or (`);
  expect(typescript.text).toContain(`if (event.name !== "flare-finished" && why?.warnings.length) continue;`);
  for (const { text } of [python, telegram])
    expect(text).toContain(`if event["name"] != "flare-finished" and why.get("warnings"):`);
  const finished = botSamples({ ...query, channel: "flares.finished" }, SERVER);
  for (const { text } of Object.values(finished))
    expect(text).not.toMatch(/"flare-(?:started|surged|finished)" (?:or|&&|and)/);
});

test("code samples escape the search in each language, and their messages link to the flare's page", () => {
  const { curl, typescript, python, telegram } = botSamples(QUERY, SERVER);
  // Each message links to the page of its flare.
  for (const { text } of [python, telegram])
    expect(text).toContain('"http://127.0.0.1:8080/below/flare/" + flare["id"]');
  expect(typescript.text).toContain("`http://127.0.0.1:8080/below/flare/$" + "{flare.id}`");
  const quoted = JSON.stringify(QUERY.search);
  expect(curl.text).toContain(quoted.replaceAll("'", `'\\''`));
  expect(typescript.text).toContain(`text?.toLowerCase().includes(${quoted})`);
  expect(python.text).toContain(`any(${quoted} in (text or "").lower()`);
});

test("[K1] on a server with keys each code sample takes the key from the environment, and its note says so", () => {
  const { webhook, ...open } = botSamples(DEFAULT_QUERY, SERVER);
  for (const { text, note } of Object.values(open)) expect(text + note).not.toMatch(/KEY|Bearer/);
  const { webhook: same, ...keyed } = botSamples(DEFAULT_QUERY, SERVER, true);
  for (const { text, note } of Object.values(keyed))
    for (const part of [text, note]) expect(part).toContain("FLAREWIRE_CLIENT_KEY");
  expect(keyed.typescript.text).toContain("key: process.env.FLAREWIRE_CLIENT_KEY || undefined,");
  // A rule belongs to the server, which has all flares.
  expect(same).toEqual(webhook);
});

test("a view whose list the visitor may not see becomes the one that the page shows instead", () => {
  const flares = { free: [], finished_trending: [] };
  const shown = (channel: FlareQuery["channel"]) =>
    shownQuery({ ...DEFAULT_QUERY, channel }, { explanations: {}, flares }).channel;
  expect([shown("flares.pro"), shown("flares.finished")]).toEqual(["flares.free", "flares.finished"]);
  for (const lists of [undefined, new Error("refused"), { explanations: {}, flares: { ...flares, pro: [] } }])
    expect(shownQuery(DEFAULT_QUERY, lists)).toBe(DEFAULT_QUERY);
});

test("a search for a complete address becomes a filter of the API", () => {
  const search = `0x${"Ab".repeat(20)}`;
  const { curl, webhook } = botSamples({ ...DEFAULT_QUERY, search }, SERVER);
  expect(curl.text).toContain(`tokens=${search.toLowerCase()}`);
  expect(curl.text).not.toContain("jq");
  expect(AlertRule.parse(JSON.parse(webhook.text)).filter?.tokens).toEqual([search.toLowerCase()]);
});

test("the server accepts the webhook rule of each view without a filter", () => {
  for (const channel of Object.keys(LIST_OF_CHANNEL) as (keyof typeof LIST_OF_CHANNEL)[])
    expect(
      AlertRule.parse(JSON.parse(botSamples({ ...DEFAULT_QUERY, channel }, SERVER).webhook.text)).channels,
    ).toEqual([channel]);
});

const ON_EXCHANGE: FlareQuery = { ...DEFAULT_QUERY, group: "exchange", search: "btc/usdt" };

test("[W44] each code sample for another group uses that group's channels and fields", () => {
  const { curl, typescript, python, webhook } = botSamples(ON_EXCHANGE, SERVER);
  expect(curl.text).toContain("channels=flares.exchange.pro&");
  expect(curl.text).toContain(".token.symbol, .token.name, .pair, .exchange | strings | ascii_downcase");
  expect(typescript.text).toContain('channels: ["flares.exchange.pro"]');
  expect(typescript.text).toContain("[flare.token.symbol, flare.token.name, flare.pair, flare.exchange]");
  expect(python.text).toContain('flare["token"]["name"], flare["pair"], flare["exchange"]');
  for (const { text } of [typescript, python]) expect(text).not.toContain("/flare/");
  expect(AlertRule.parse(JSON.parse(webhook.text)).channels).toEqual(["flares.exchange.pro"]);
  expect(describeQuery(ON_EXCHANGE)).toBe(
    "Every flare on exchanges as soon as it starts, its surges and its end: “btc/usdt” in symbol, name, pair or exchange.",
  );
});

test("the API selects a token of an exchange by its symbol; symbols may be pairs", () => {
  const query: FlareQuery = { ...DEFAULT_QUERY, group: "exchange", tokens: ["btc"] };
  expect(formatQuery(query)).toBe("group=exchange&tokens=btc");
  expect(AlertRule.parse(JSON.parse(botSamples(query, SERVER).webhook.text)).filter).toEqual({
    symbols: ["btc"],
  });
  const found = (part: Partial<FlareQuery>) =>
    wantedFlares([SAMPLE_EXCHANGE_FLARE], {}, { ...DEFAULT_QUERY, group: "exchange", ...part }).length;
  const parts = [
    { tokens: ["btc"] },
    ...["btc", "btc/usdt", "usdt"].map((symbol) => ({ symbols: [symbol] })),
  ];
  expect(parts.map(found)).toEqual([1, 1, 1, 0]);
});

test("a search finds flares of an exchange by their pair and exchange", () => {
  const found = (search: string) => wantedFlares([SAMPLE_EXCHANGE_FLARE], {}, { ...ON_EXCHANGE, search });
  for (const search of ["btc/usdt", "Binance"]) expect(found(search)).toHaveLength(1);
  expect(found("kucoin")).toEqual([]);
});

test("a running flare of another group links to its token's page in the dashboard", () => {
  const running = { ...SAMPLE_EXCHANGE_FLARE, finished_trending_at: null };
  for (const isAnonymous of [true, false])
    expect(flarePageHref(running, isAnonymous)).toBe("#/token/exchange/BTC");
});

test("[W44] the address of another group has that group's channel names", () => {
  const query: FlareQuery = { ...DEFAULT_QUERY, group: "matic", channel: "flares.finished" };
  expect(channelOf(query)).toBe("flares.matic.finished");
  expect(flaresHash(query)).toBe("#/finished?group=matic");
});
