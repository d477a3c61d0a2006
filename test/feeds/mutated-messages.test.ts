import { expect, test } from "vitest";
import type { z } from "zod";
import { systemClock } from "../../src/base/lib/time/clock.ts";
import { Snapshot } from "../../src/base/model/index.ts";
import { AGGREGATED, readPools } from "../../src/feeds/aggregator/gecko-terminal.ts";
import { coingecko, dexscreener, etherscan, sourcify } from "../../src/feeds/enrich/services.ts";
import { createBinance } from "../../src/feeds/exchange/binance.ts";
import { createGate } from "../../src/feeds/exchange/gate.ts";
import { createKucoin } from "../../src/feeds/exchange/kucoin.ts";
import type { StreamNews, Venue } from "../../src/feeds/exchange/venue.ts";
import { UnexpectedAnswer } from "../../src/feeds/service/service-client.ts";
import { Unread } from "../../src/feeds/service/unread.ts";
import { type UpstreamReport, UpstreamReports } from "../../src/feeds/upstream/upstream-reports.ts";
import {
  mismatchOfFlares,
  RESOURCES,
  readNotes,
  readObservedAtMs,
  readResource,
} from "../../src/feeds/upstream/upstream-resources.ts";
import { wholeOf } from "../support/servers/scripted-upstream.ts";
import { POLLED_SNAPSHOT } from "../support/world/samples.ts";
import { listOf } from "./aggregator/stand-in.ts";
import { messageOf, TradeTape } from "./exchange/stand-in-trades.ts";
import { CHANGES, changed, pathsOf, textOf } from "./mutations.ts";

/*
 * Changes each field of each external message in turn, in all items of a list: absent, null, of
 * another type, renamed. A change must not matter, or it must be said: by a failure that names it,
 * or by a count. Otherwise data would vanish, or be invented, in silence.
 */

const T = 1_700_000_040_000;
const S = String(T / 1_000);
const TOKEN = `0x${"ab".repeat(20)}`;
const [BSC] = AGGREGATED;
if (!BSC) throw new Error("BSC is not aggregated");

interface Message {
  readonly name: string;
  readonly body: unknown;
  /** Returns what is read. Throws a failure that names the fault. */
  readonly read: (body: unknown, unread: Unread) => unknown;
  /** What a change of these fields means by the service's documents, so it need not be said. */
  readonly documented?: readonly string[];
  /** A body that the message's published contract allows need not be said. */
  readonly contract?: z.ZodType;
}

const venues = {
  binance: createBinance({ url: "http://b", streamUrl: "ws://b" }),
  kucoin: createKucoin({ url: "http://k", connectId: () => "me" }),
  gate: createGate({ url: "http://g", streamUrl: "ws://g", now: () => T }),
} as const satisfies Record<string, Venue>;

/** Reads a message of a stream. What is unusable is counted, as the follower does. */
const streamOf =
  (venue: Venue): Message["read"] =>
  (body, unread) =>
    venue.stream.read(body).filter((news: StreamNews) => {
      if (news.kind === "unusable") unread.bad(news.what, news.reason);
      return news.kind !== "unusable";
    });

const restOf = (
  venue: Venue,
  name: "pairs" | "volumes" | "candles" | "trades",
  body: unknown,
  documented: readonly string[] = [],
): Message => ({
  name: `${venue.name} ${name}`,
  body,
  read: (given, unread) => venue[name].read(given, unread),
  documented,
});
const tradeOf = (name: "binance" | "kucoin" | "gate") =>
  JSON.parse(JSON.stringify(messageOf(new TradeTape(name).make("A", T))));
const of = (data: unknown) => ({ code: "200000", data });
const { binance, kucoin, gate } = venues;

const k = { t: T, i: "1m", o: "1.5", c: "1.8", h: "2", l: "1", v: "10", n: 7, V: "6" };
const kucoinRow = [S, "1.5", "1.8", "2", "1", "10", "18"];
const gateCandle = { t: S, o: "1.5", c: "1.8", h: "2", l: "1", a: "10", n: "1m_A" };

const MESSAGES: readonly Message[] = [
  restOf(binance, "pairs", {
    symbols: ["A", "B"].map((base) => ({
      ...{ symbol: `${base}USDT`, status: "TRADING", baseAsset: base, quoteAsset: "USDT" },
      isSpotTradingAllowed: true,
    })),
  }),
  restOf(binance, "volumes", [{ symbol: "AUSDT", quoteVolume: "1000.5" }]),
  restOf(
    binance,
    "candles",
    [[T, "1.5", "2", "1", "1.8", "10", T + 59_999, "18", 7, "6", "11", "0"]],
    // The next field, of the same type, takes its place.
    ["9 absent"],
  ),
  restOf(binance, "trades", [tradeOf("binance").data]),
  { name: "binance trade", body: tradeOf("binance"), read: streamOf(binance) },
  {
    name: "binance candle",
    body: { stream: "a@kline_1m", data: { e: "kline", E: T, s: "A", k } },
    read: streamOf(binance),
  },
  {
    name: "binance tickers",
    body: { stream: "!miniTicker@arr", data: [{ e: "24hrMiniTicker", s: "A", q: "10" }] },
    read: streamOf(binance),
  },
  restOf(
    kucoin,
    "pairs",
    of([{ symbol: "A-USDT", baseCurrency: "A", quoteCurrency: "USDT", enableTrading: true }]),
  ),
  restOf(kucoin, "volumes", of({ ticker: [{ symbol: "A-USDT", volValue: "1000.5" }] })),
  restOf(kucoin, "candles", of([kucoinRow])),
  restOf(kucoin, "trades", of([tradeOf("kucoin").data])),
  { name: "kucoin trade", body: tradeOf("kucoin"), read: streamOf(kucoin) },
  {
    name: "kucoin candle",
    body: {
      ...{ type: "message", topic: "/market/candles:A_1min" },
      data: { symbol: "A", candles: kucoinRow, time: T * 1e6 },
    },
    read: streamOf(kucoin),
  },
  {
    name: "kucoin ticket",
    body: of({ token: "t", instanceServers: [{ endpoint: "wss://k", pingInterval: 18_000 }] }),
    read: (body) => {
      const { url, greets, ping } = kucoin.stream.endpoint(body);
      return { url, greets, everyMs: ping?.everyMs };
    },
  },
  restOf(gate, "pairs", [{ id: "A_USDT", base: "A", quote: "USDT", trade_status: "tradable" }]),
  restOf(gate, "volumes", [{ currency_pair: "A_USDT", quote_volume: "1000.5" }]),
  restOf(gate, "candles", [[S, "18", "1.8", "2", "1", "1.5", "10", "true"]]),
  // Without numbers, missed trades are found by time.
  restOf(gate, "trades", [tradeOf("gate").result], ["id_market"]),
  { name: "gate trade", body: tradeOf("gate"), read: streamOf(gate), documented: ["time_ms", "id_market"] },
  {
    name: "gate candle",
    body: { time: T / 1_000, time_ms: T, channel: "spot.candlesticks", event: "update", result: gateCandle },
    read: streamOf(gate),
  },
  {
    name: "aggregator",
    body: listOf("bsc", [{ token: TOKEN, symbol: "GEM", coin: "gem", rose: ["50", "10", "20"] }]),
    read: (body, unread) => readPools(body, BSC, T, unread),
    // Null: the service does not know it.
    documented: [
      ...["pool_created_at null", "name null", "symbol null", "coingecko_coin_id null"],
      // Answers of 2024 lack it.
      ...["m30 absent", "m30 renamed"],
    ],
  },
  {
    name: "coingecko",
    body: [{ id: "a", name: "A", platforms: { "binance-smart-chain": TOKEN } }],
    read: (body, unread) => [...coingecko("http://c").read(body, unread)],
  },
  {
    name: "sourcify",
    body: { match: "exact_match" },
    read: (body, unread) => [...sourcify("http://s").read(body, [TOKEN], "bsc", unread)],
    documented: ["match null"],
  },
  {
    name: "etherscan",
    body: { status: "1", message: "OK", result: [{ ABI: "[]" }] },
    read: (body, unread) => [...etherscan("http://e", "key").read(body, [TOKEN], "bsc", unread)],
  },
  {
    name: "dexscreener",
    body: [
      {
        baseToken: { address: TOKEN },
        info: {
          websites: [{ url: "https://a.example" }],
          socials: [{ type: "twitter", url: "https://x.com/a" }],
        },
      },
    ],
    read: (body, unread) => [...dexscreener("http://d").read(body, [TOKEN], "bsc", unread)],
    // Pairs without links have no `info`. A pair may also lack one of the lists.
    documented: ["info", "websites", "socials"].flatMap((field) => [`${field} absent`, `${field} renamed`]),
  },
];

/** Reads a message of an upstream service with `read`, which reports what is unusable. */
const upstreamOf =
  (read: (body: unknown, reports: UpstreamReports) => unknown): Message["read"] =>
  (body, unread) => {
    const count = ({ list, path, reason }: UpstreamReport) => unread.count(list, `${path} ${reason}`);
    return read(structuredClone(body), new UpstreamReports(systemClock, count));
  };

/** The four resources of an upstream, and the notes on its flares in `/snapshot`. */
const UPSTREAM: readonly Message[] = [
  ...RESOURCES.map((name) => ({
    name: `upstream ${name}`,
    body: POLLED_SNAPSHOT[name],
    read: upstreamOf((body, reports) => {
      const mismatch = name === "flares" ? mismatchOfFlares(body, true) : undefined;
      if (mismatch !== undefined) throw new UnexpectedAnswer(mismatch);
      return readResource(name, body, undefined, reports);
    }),
    contract: Snapshot.shape[name],
    // Other services lack it.
    documented: ["avalanche absent", "avalanche renamed"],
  })),
  {
    name: "upstream notes",
    body: wholeOf(POLLED_SNAPSHOT),
    read: upstreamOf((body, reports) => [
      readNotes(body, POLLED_SNAPSHOT.flares, undefined, reports),
      readObservedAtMs(Reflect.get(Object(body), "observed_at"), reports),
    ]),
    contract: Snapshot.pick({ explanations: true, outcomes: true }),
    // Other services lack them. The sentence is then made of the terms.
    documented: ["text", "outcomes"].flatMap((field) => [`${field} absent`, `${field} renamed`]),
  },
];

/** Sorts a change of a message by what it leads to. */
function outcomeOf({ body, read }: Message, mutated: unknown): "same" | "said" | "silent" {
  const unread = new Unread();
  try {
    const found = textOf(read(mutated, unread));
    if (Object.keys(unread.counts).length > 0) return "said";
    return found === textOf(read(body, new Unread())) ? "same" : "silent";
  } catch (error) {
    expect(error).toMatchObject({ name: "UnexpectedAnswer" });
    return "said";
  }
}

test("no changed field of a message makes data vanish or appear in silence", () => {
  const counts = { same: 0, said: 0, silent: 0, documented: 0 };
  const silent: string[] = [];
  for (const message of [...MESSAGES, ...UPSTREAM]) {
    const unread = new Unread();
    expect([message.name, textOf(message.read(message.body, unread)).length > 2]).toEqual([
      message.name,
      true,
    ]);
    expect([message.name, unread.counts]).toEqual([message.name, {}]);
    for (const path of pathsOf(message.body)) {
      for (const [kind, change] of Object.entries(CHANGES)) {
        // A list may be shorter.
        if (kind === "absent" && path.at(-1) === "*") continue;
        const mutated = changed(message.body, path, change);
        const outcome = outcomeOf(message, mutated);
        const field = path.at(-1) ?? "";
        const isDocumented =
          outcome === "silent" &&
          (message.contract?.safeParse(mutated).success === true ||
            message.documented?.some((one) => one === field || one === `${field} ${kind}`) === true);
        counts[isDocumented ? "documented" : outcome] += 1;
        if (outcome === "silent" && !isDocumented) silent.push(`${message.name}: ${path.join(".")} ${kind}`);
      }
    }
  }
  expect(silent).toEqual([]);
  expect(counts).toEqual({ same: 1_588, said: 1_969, silent: 0, documented: 109 });
});
