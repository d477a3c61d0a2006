import { expect } from "vitest";
import { createBinance } from "../../../src/feeds/exchange/binance.ts";
import { createKucoin } from "../../../src/feeds/exchange/kucoin.ts";
import type { StreamNews, Venue } from "../../../src/feeds/exchange/venue.ts";
import { VenueSubscription } from "../../../src/feeds/exchange/venue-subscription.ts";
import { ServiceClient } from "../../../src/feeds/service/service-client.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { test } from "../../support/time/still-running.ts";
import { StandIn, type StandInPair } from "./stand-in.ts";

const PAIRS: readonly StandInPair[] = ["AAA", "BBB"].flatMap((base) => [
  { venue: "binance", base, quoteVolume: 1 } as const,
  { venue: "kucoin", base, quoteVolume: 1 } as const,
]);

/** Subscribes to the stand-in, at up to forty times real time. */
async function subscribeTo(name: "binance" | "kucoin", pairs: readonly string[], renewMs?: number) {
  const clock = new PacedClock(40, Date.UTC(2026, 0, 1));
  const server = await new StandIn(clock, PAIRS).listen();
  const { url, streamUrl } = server;
  const venue: Venue =
    name === "binance" ? createBinance({ url, streamUrl }) : createKucoin({ url, connectId: () => "me" });
  const news: StreamNews[] = [];
  const health: (string | undefined)[] = [];
  const resumed: string[] = [];
  const waiting = new Set<() => void>();
  const checkAll = () => {
    for (const one of waiting) one();
  };
  const subscription = new VenueSubscription(
    {
      venue,
      client: new ServiceClient({ clock, pauseMs: 0 }),
      clock,
      random: () => 0.5,
      ...(renewMs === undefined ? {} : { renewMs }),
      onNews: (one) => {
        news.push(one);
        checkAll();
      },
      onHealth: (trouble) => {
        health.push(trouble);
        checkAll();
      },
      onResumed: (some) => {
        resumed.push(...some);
        checkAll();
      },
    },
    pairs,
  );
  const stop = new AbortController();
  const running = subscription.run(stop.signal);
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const one = () => {
        if (!holds()) return;
        waiting.delete(one);
        resolve();
      };
      waiting.add(one);
      one();
    });
  const has = (pair: string, from: number) =>
    news.slice(from).some((one) => one.kind === "candle" && one.pair === pair);
  return {
    subscription,
    server,
    news,
    health,
    resumed,
    until,
    has,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      await server[Symbol.asyncDispose]();
    },
  };
}

test("a connection is replaced before the exchange cuts it, and the new one is ready before the old one closes", async () => {
  await using run = await subscribeTo("kucoin", ["AAA-USDT"], 20_000);
  const { server, until, has, news, health } = run;
  await until(() => server.heard.filter((text) => text.includes("subscribe")).length >= 8);
  const from = news.length;
  await until(() => has("AAA-USDT", from));
  expect(server.connections("kucoin")).toBeLessThanOrEqual(2);
  expect(health).toEqual([undefined]);
});

test("changes of the followed markets use the existing connection", async () => {
  await using run = await subscribeTo("binance", ["AAAUSDT"]);
  const { server, subscription, until, has } = run;
  await until(() => has("AAAUSDT", 0));
  subscription.change(["BBBUSDT"], ["AAAUSDT"]);
  await until(() => has("BBBUSDT", 0));
  expect(
    server.heard.map((text) => JSON.parse(text)).map(({ method, params }) => [method, ...params]),
  ).toEqual([
    ["SUBSCRIBE", "aaausdt@kline_1m", "aaausdt@aggTrade"],
    ["UNSUBSCRIBE", "aaausdt@kline_1m", "aaausdt@aggTrade"],
    ["SUBSCRIBE", "bbbusdt@kline_1m", "bbbusdt@aggTrade"],
  ]);
});

test.each([
  ["is cut", (server: StandIn) => server.cut("binance"), /^closed the connection/],
  [
    "sends invalid text",
    (server: StandIn) => server.say("binance", "<html>"),
    "sent something other than JSON",
  ],
  [
    "is about to end",
    (server: StandIn) => server.say("binance", '{"stream":"","data":{"e":"serverShutdown","E":1}}'),
    "is about to shut down",
  ],
  ["is open but silent", (server: StandIn) => server.mute.add("binance"), "was silent for 30 s"],
])("a connection that %s is reopened, and the missed minutes are requested", async (_what, spoil, reason) => {
  await using run = await subscribeTo("binance", ["AAAUSDT"]);
  const { server, until, has, news, health, resumed } = run;
  await until(() => has("AAAUSDT", 0) && health.length > 0);
  spoil(server);
  await until(() => health.length >= 2);
  server.mute.clear();
  const from = news.length;
  await until(() => has("AAAUSDT", from));
  expect(health.slice(0, 2)).toEqual([
    undefined,
    typeof reason === "string" ? reason : expect.stringMatching(reason),
  ]);
  await until(() => resumed.includes("AAAUSDT"));
});
