import type { MarketEvent } from "../../../src/base/market/index.ts";
import { createExchangeFeed, type ExchangeFeedOptions } from "../../../src/feeds/exchange/exchange-feed.ts";
import type { VenueName } from "../../../src/feeds/exchange/venue.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { candleNews, ScriptedVenue, settle, until } from "./scripted-venue.ts";

export const MINUTE = 60_000;
/** A whole minute. */
export const START = Date.UTC(2026, 0, 1);

/** Runs scripted exchanges as one feed with a manual clock. The keys of the volumes are pairs. */
export async function market(
  volumes: Partial<Record<VenueName, Record<string, number>>>,
  options: Partial<ExchangeFeedOptions> = {},
  prepare: (servers: Map<VenueName, ScriptedVenue>) => void = () => {},
) {
  const clock = new ManualClock(START);
  const servers = new Map<VenueName, ScriptedVenue>();
  for (const name of ["binance", "kucoin", "gate"] as const) {
    if (!volumes[name]) continue;
    const server = await new ScriptedVenue({ name }).listen();
    server.volumes = volumes[name];
    servers.set(name, server);
  }
  prepare(servers);
  const notices: string[] = [];
  const events: MarketEvent[] = [];
  const stop = new AbortController();
  const feed = createExchangeFeed({
    venues: [...servers.values()].map(({ venue }) => venue),
    quotes: ["USDT"],
    minVolume: 1,
    warmupMs: 0,
    clock,
    random: () => 0.5,
    notify: (_level: string, message: string) => notices.push(message),
    ...options,
  });
  const reading = (async () => {
    for await (const event of feed.events(stop.signal)) events.push(event);
  })();
  const server = (name: VenueName = "binance") => {
    const found = servers.get(name);
    if (!found) throw new Error(`no ${name}`);
    return found;
  };
  const connected = (name: VenueName = "binance") =>
    until(`${name} is subscribed`, () => (server(name).open.at(-1)?.heard.length ?? 0) > 0);
  /** Lets the exchange accept connections again, and waits until the feed is subscribed. */
  const reconnected = async () => {
    server().isRefusing = false;
    const connections = server().served.length;
    for (let tries = 0; tries < 100 && server().served.length === connections; tries++) {
      clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await connected();
  };
  const clockMs = () => (events.findLast(({ kind }) => kind === "clock")?.at ?? Number.NaN) - START;
  /** Advances time while this exchange stays live, with its own clock ahead by this much. */
  const pass = async (ms: number, name: VenueName = "binance", aheadMs = 0) => {
    for (let left = ms; left > 0; left -= 1_000) {
      clock.advance(Math.min(1_000, left));
      const before = feed.services?.().find(({ service }) => service === name)?.ageMs;
      server(name).say(candleNews("QUIET", 0, START + clock.monotonic() + aheadMs));
      if (before !== 0)
        await until(
          `${name} has delivered`,
          () => feed.services?.().find(({ service }) => service === name)?.ageMs === 0,
        );
      await settle();
    }
  };
  return {
    clock,
    feed,
    server,
    events,
    notices,
    connected,
    reconnected,
    pass,
    clockMs,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await reading;
      for (const one of servers.values()) await one[Symbol.asyncDispose]();
    },
  };
}

export const candlesOf = (events: readonly MarketEvent[]) =>
  events.flatMap((event) =>
    event.kind === "candle" ? [`${event.token} ${(event.openAt - START) / MINUTE} ${event.volume}`] : [],
  );
