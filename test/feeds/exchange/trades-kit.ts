import type { MarketEvent, Trade } from "../../../src/base/market/index.ts";
import { createBinance } from "../../../src/feeds/exchange/binance.ts";
import { createExchangeFeed } from "../../../src/feeds/exchange/exchange-feed.ts";
import { createGate } from "../../../src/feeds/exchange/gate.ts";
import { createKucoin } from "../../../src/feeds/exchange/kucoin.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { until } from "./scripted-venue.ts";
import { StandIn } from "./stand-in.ts";

const START = Date.UTC(2026, 5, 1, 12, 0, 40);
const VENUE_PAIRS = { binance: "SOLUSDT", kucoin: "SOL-USDT", gate: "SOL_USDT" } as const;
type Name = keyof typeof VENUE_PAIRS;

/** Follows one pair of one exchange of the stand-in. */
export async function followTrades(name: Name) {
  const clock = new PacedClock(40, START);
  const server = await new StandIn(clock, [{ venue: name, base: "SOL", quoteVolume: 5e8 }]).listen();
  const { url, streamUrl } = server;
  const notices: string[] = [];
  const events: MarketEvent[] = [];
  const trades: Trade[] = [];
  /** Event times that decreased by more than the engine accepts. */
  const late: number[] = [];
  const stop = new AbortController();
  const venues = {
    binance: () => createBinance({ url, streamUrl }),
    kucoin: () => createKucoin({ url, connectId: () => "test" }),
    gate: () => createGate({ url, streamUrl, now: () => clock.now() }),
  };
  const feed = createExchangeFeed({
    venues: [venues[name]()],
    quotes: ["USDT"],
    minVolume: 1,
    warmupMs: 0,
    clock,
    notify: (_level, message) => notices.push(message),
  });
  const reading = (async () => {
    let latestAt = 0;
    for await (const event of feed.events(stop.signal)) {
      events.push(event);
      if (event.at < latestAt - 5_000) late.push(event.at);
      latestAt = Math.max(latestAt, event.at);
      if (event.kind === "trade") trades.push(event);
    }
  })();
  const pair = VENUE_PAIRS[name];
  const subscribed = () => until("the trades are subscribed to", () => server.hasTradesOf(pair));
  await subscribed();
  const run = { clock, server, feed, notices, events, trades, late, pair, subscribed };
  return {
    ...run,
    make: (count: number) => server.trade(name, pair, count),
    /** Cuts the connection, and makes trades that the stream misses. */
    miss: async (count: number) => {
      server.cut(name);
      await until("the connection is cut", () => !server.hasTradesOf(pair));
      const missed = server.trade(name, pair, count);
      await subscribed();
      return missed;
    },
    arrived: (count: number) => until(`${count} trades are emitted`, () => trades.length >= count),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await reading;
      await server[Symbol.asyncDispose]();
    },
  };
}
