import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createBinance } from "../../../src/feeds/exchange/binance.ts";
import { createGate } from "../../../src/feeds/exchange/gate.ts";
import { createKucoin } from "../../../src/feeds/exchange/kucoin.ts";
import type { Venue } from "../../../src/feeds/exchange/venue.ts";

const binance = createBinance({ url: "https://b.example", streamUrl: "wss://b.example" });
const kucoin = createKucoin({ url: "https://k.example", connectId: () => "me" });
const gate = createGate({
  url: "https://g.example",
  streamUrl: "wss://g.example",
  now: () => 1_700_000_000_000,
});
const T = 1_700_000_040_000;

test.each([
  ["encloses both", "1.5", "2", "1", "1.8", true],
  ["is a single price", "1.5", "1.5", "1.5", "1.5", true],
  ["has its high below its close", "1.5", "1.79", "1", "1.8", false],
  ["has its high below its open", "1.8", "1.79", "1", "1.5", false],
  ["has its low above its close", "1.8", "2", "1.51", "1.5", false],
  ["has its low above its open", "1.5", "2", "1.51", "1.8", false],
  ["costs nothing", "1.5", "2", "0", "1.8", false],
])("a candle that %s is accepted or skipped equally by every exchange", (_what, o, h, l, c, isTaken) => {
  const count = isTaken ? 2 : 1;
  const seconds = String(T / 1_000);
  const ofBinance = (...prices: string[]) => [T, ...prices, "10", T + 59_999, "18", 7, "6", "11", "0"];
  const one = ["1", "1", "1", "1"];
  expect(binance.candles.read([ofBinance(o, h, l, c), ofBinance(...one)])).toHaveLength(count);
  const ofKucoin = [
    [seconds, o, c, h, l, "10", "18"],
    [seconds, ...one, "10", "18"],
  ];
  expect(kucoin.candles.read({ code: "200000", data: ofKucoin })).toHaveLength(count);
  const ofGate = [
    [seconds, "18", c, h, l, o, "10", "true"],
    [seconds, "18", ...one, "10", "true"],
  ];
  expect(gate.candles.read(ofGate)).toHaveLength(count);
});

test("a streamed candle is the same minute from every exchange, with the time at which it was sent", () => {
  const prices = { open: "1.5", high: "2", low: "1", close: "1.8", volume: "10" };
  const news = { kind: "candle", pair: "A", candle: { openAt: T, ...prices }, sentAt: T + 7_000 };
  const k = { t: T, i: "1m", o: "1.5", c: "1.8", h: "2", l: "1", v: "10", n: 7, V: "6" };
  const kline = { stream: "a@kline_1m", data: { e: "kline", E: T + 7_000, s: "A", k } };
  const trades = { trades: 7, buyVolume: "6" };
  expect(binance.stream.read(kline)).toEqual([{ ...news, candle: { ...news.candle, ...trades } }]);
  const candles = [String(T / 1_000), "1.5", "1.8", "2", "1", "10", "18"];
  const data = { symbol: "A", candles, time: (T + 7_000) * 1e6 };
  expect(kucoin.stream.read({ type: "message", topic: "/market/candles:A_1min", data })).toEqual([news]);
  const result = { t: String(T / 1_000), o: "1.5", c: "1.8", h: "2", l: "1", a: "10", n: "1m_A" };
  const update = { time: T / 1_000 + 7, channel: "spot.candlesticks", event: "update", result };
  expect(gate.stream.read(update)).toEqual([news]);
  expect(gate.stream.read({ ...update, time_ms: T + 7_123 })).toMatchObject([{ sentAt: T + 7_123 }]);
});

describe("binance", () => {
  test("parses minutes and skips invalid ones", () => {
    const row = [T, "1.5", "2", "1", "1.8", "10", T + 59_999, "18", 7, "6", "11", "0"];
    const impossible = row.with(2, "1.2");
    expect(binance.candles.read([row, impossible, row.with(1, "x"), "row", []])).toEqual([
      { openAt: T, open: "1.5", high: "2", low: "1", close: "1.8", volume: "10", trades: 7, buyVolume: "6" },
    ]);
    expect(binance.candles.read([])).toEqual([]);
    expect(() => binance.candles.read({ code: -1121, msg: "Invalid symbol." })).toThrow(
      "returned no list of klines",
    );
    expect(() => binance.candles.read([[1, 2], "x"])).toThrow("a list of 2 items without valid klines");
  });

  test("requests bounded numbers of minutes and streams, with stream names in lower case", () => {
    expect(binance.candles.request("币安人生USDT", T, T + 60_000).url).toMatch(
      /symbol=%E5%B8%81.*startTime=\d+&endTime=\d+&limit=1000$/,
    );
    const many = Array.from({ length: 250 }, (_, index) => `P${index}USDT`);
    const messages = binance.stream.subscribe(many, true).map((text) => JSON.parse(text));
    expect(messages.map(({ method, params }) => [method, params.length])).toEqual([
      ...Array(5).fill(["SUBSCRIBE", 100]),
    ]);
    expect(messages[0].params.slice(0, 2)).toEqual(["p0usdt@kline_1m", "p0usdt@aggTrade"]);
    // All pairs of a connection, with the tickers, stay below the exchange's limit.
    expect(2 * binance.stream.maxPairs + 1).toBeLessThanOrEqual(1_024);
    expect(binance.stream.endpoint(undefined).url).toContain("!miniTicker@arr");
  });

  test("pauses until the next minute when this one's weight is nearly used up", () => {
    const headers = new Headers({ "x-mbx-used-weight-1m": "5500" });
    expect(binance.quota(headers, T + 10_000)).toBe(50_000 - (T % 60_000));
    for (const [used, restMs] of [
      ["5000", undefined],
      ["5001", 60_000],
    ] as const)
      expect(binance.quota(new Headers({ "x-mbx-used-weight-1m": used }), T)).toBe(restMs);
  });

  test("recognizes a refusal and an announced shutdown", () => {
    expect(binance.stream.read({ error: { code: 2, msg: "Invalid request" }, id: 1 })).toMatchObject([
      { kind: "refused" },
    ]);
    expect(binance.stream.read({ stream: "x", data: { e: "serverShutdown", E: T } })).toMatchObject([
      { kind: "ending" },
    ]);
    expect(binance.stream.read({ result: null, id: 1 })).toEqual([]);
  });
});

describe("kucoin", () => {
  test("parses minutes in its own order of prices, and treats a code other than 200000 as a failure", () => {
    const row = [String(T / 1_000), "1.5", "1.8", "2", "1", "10", "18"];
    expect(kucoin.candles.read({ code: "200000", data: [row] })).toEqual([
      { openAt: T, open: "1.5", close: "1.8", high: "2", low: "1", volume: "10" },
    ]);
    expect(() => kucoin.candles.read({ code: "429000", msg: "Too many requests" })).toThrow(
      "returned code 429000",
    );
  });

  test("connects to the ticket's address, and pings at its interval", () => {
    const server = {
      endpoint: "wss://ws.example/endpoint",
      pingInterval: 18_000,
      pingTimeout: 10_000,
      protocol: "websocket",
    };
    const endpoint = kucoin.stream.endpoint({
      code: "200000",
      data: { token: "a+b=", instanceServers: [server] },
    });
    expect(endpoint).toMatchObject({
      url: "wss://ws.example/endpoint?token=a%2Bb%3D&connectId=me",
      greets: true,
      ping: { everyMs: 18_000 },
    });
    const pings = [1, 2, 3].map(() => JSON.parse(endpoint.ping?.text() ?? ""));
    expect(pings.map(({ type }) => type)).toEqual(["ping", "ping", "ping"]);
    expect(new Set(pings.map(({ id }) => id)).size).toBe(3);
    expect(() =>
      kucoin.stream.endpoint({ code: "200000", data: { token: "x", instanceServers: [] } }),
    ).toThrow("ticket for a stream");
  });

  test("pauses when its quota runs out", () => {
    const headers = new Headers({ "gw-ratelimit-remaining": "40", "gw-ratelimit-reset": "12000" });
    expect([kucoin.quota(headers, T), kucoin.quota(new Headers(), T)]).toEqual([12_000, undefined]);
    const at = (left: string, resetMs: string) =>
      kucoin.quota(new Headers({ "gw-ratelimit-remaining": left, "gw-ratelimit-reset": resetMs }), T);
    expect([at("100", "12000"), at("99", "12000"), at("0", "90000")]).toEqual([undefined, 12_000, 30_000]);
  });

  test("puts at most a hundred topics into a message", () => {
    const many = Array.from({ length: 150 }, (_, index) => `P${index}-USDT`);
    const topics = kucoin.stream
      .subscribe(many, false)
      .map((text) => JSON.parse(text).topic.split(/[:,]/))
      .map(([topic, ...names]) => [topic, names.length]);
    expect(topics).toEqual([
      ["/market/candles", 100],
      ["/market/match", 100],
      ["/market/candles", 50],
      ["/market/match", 50],
    ]);
    expect(
      kucoin.stream.read({ id: "1", type: "error", code: 509, data: "exceed max subscription" }),
    ).toMatchObject([{ kind: "refused" }]);
  });
});

describe("gate", () => {
  test("parses minutes in its own order, with from and to inclusive", () => {
    const row = [String(T / 1_000), "18", "1.8", "2", "1", "1.5", "10", "true"];
    expect(gate.candles.read([row])).toEqual([
      { openAt: T, open: "1.5", close: "1.8", high: "2", low: "1", volume: "10" },
    ]);
    expect(gate.candles.request("A_USDT", T, T + 120_000).url).toMatch(
      `from=${T / 1_000}&to=${T / 1_000 + 119}`,
    );
  });

  test("reports the tradable markets and their volumes", () => {
    const pair = { id: "A_USDT", base: "a", quote: "USDT", trade_status: "tradable" };
    expect(gate.pairs.read([pair, { ...pair, trade_status: "untradable" }])).toEqual([
      { pair: "A_USDT", base: "A", quote: "USDT" },
    ]);
    expect(
      gate.volumes.read([
        { currency_pair: "A_USDT", quote_volume: "1e3" },
        { currency_pair: "B_USDT", quote_volume: null },
      ]),
    ).toEqual(
      // An unknown volume is not zero.
      new Map([["A_USDT", 1_000]]),
    );
  });

  test("waits until its quota restarts", () => {
    const headers = new Headers({
      "x-gate-ratelimit-requests-remain": "1",
      "x-gate-ratelimit-reset-timestamp": String(T / 1_000 + 7),
    });
    expect(gate.quota(headers, T)).toBe(7_000);
    const at = (left: string, seconds: number) =>
      gate.quota(
        new Headers({
          "x-gate-ratelimit-requests-remain": left,
          "x-gate-ratelimit-reset-timestamp": String(T / 1_000 + seconds),
        }),
        T,
      );
    expect([at("5", 7), at("4", 7), at("0", 90), at("0", -1)]).toEqual([undefined, 7_000, 60_000, 0]);
  });
});

/** Recorded responses of the exchanges, which are not part of the project. */
const recorded = fileURLToPath(new URL("../../../../shared/data/api-responses/exchange/", import.meta.url));

describe.skipIf(!existsSync(recorded))(
  "recorded answers of the exchanges (../shared/data/api-responses)",
  () => {
    const messagesOf = (file: string) =>
      readFileSync(`${recorded}${file}`, "utf8")
        .split("\n")
        .flatMap((line) => {
          const text = /^\d+\.\d+: (\{.*\})$/.exec(line)?.[1];
          try {
            return text === undefined ? [] : [JSON.parse(text)];
          } catch {
            return [];
          }
        });

    test.each([
      ["cryptofeed_BINANCE.ws.1.0.txt", binance, (message) => message.data?.e === "kline"],
      [
        "cryptofeed_KUCOIN.ws.1.0.txt",
        kucoin,
        (message) => /candles/.test(message.topic) && message.type === "message",
      ],
      [
        "cryptofeed_GATEIO.ws.1.0.txt",
        gate,
        (message) => message.channel === "spot.candlesticks" && message.event === "update",
      ],
    ] satisfies [
      string,
      Venue,
      (message: {
        data?: { e?: string };
        topic: string;
        type: string;
        channel: string;
        event: string;
      }) => boolean,
    ][])("every candle and trade of %s is parsed", (file, venue, isCandle) => {
      const messages = messagesOf(file);
      expect(messages.length).toBeGreaterThan(50);
      const all = messages.flatMap((message) => venue.stream.read(message));
      expect(all.map(({ kind }) => kind)).toContain("trade");
      // The recordings have channels that are not subscribed to.
      const unusable = all.flatMap((news) => (news.kind === "unusable" ? [news.what] : []));
      expect([...new Set(unusable)]).toEqual(unusable.length === 0 ? [] : ["stream messages"]);
      for (const message of messages) {
        const news = venue.stream.read(message);
        expect(news.map(({ kind }) => kind)).toEqual(
          isCandle(message) ? ["candle"] : news.map(({ kind }) => kind),
        );
      }
    });

    test("a candle of Gate without base volume has the quote volume divided by its price", () => {
      const candles = messagesOf("cryptofeed_GATEIO.ws.1.0.txt")
        .filter(({ channel, event }) => channel === "spot.candlesticks" && event === "update")
        .map((message) => ({ result: message.result, news: gate.stream.read(message) }));
      expect(candles.some(({ result }) => Number(result.v) > 0)).toBe(true);
      for (const { result, news } of candles) {
        const [candle] = news.flatMap((one) => (one.kind === "candle" ? [one.candle] : []));
        expect(Number(candle?.volume) * Number(result.c)).toBeCloseTo(Number(result.v), 4);
      }
      const [{ result } = { result: {} }] = candles;
      const nulled = {
        time: 1,
        channel: "spot.candlesticks",
        event: "update",
        result: { ...result, a: null },
      };
      expect(gate.stream.read(nulled)).toMatchObject([{ kind: "unusable", reason: "result.a is null" }]);
    });
  },
);
