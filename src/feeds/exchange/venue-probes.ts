import type { Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { MINUTE_MS, startOf } from "../../base/lib/time/time.ts";
import { ServiceClient, UnexpectedAnswer } from "../service/service-client.ts";
import { StreamConnection } from "./stream-connection.ts";
import type { Read, Venue, VenueRequest } from "./venue.ts";

/** The market to test. An exchange without it is tested with its first market. */
const BASE = "BTC";
const QUOTE = "USDT";
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Returns probes of an exchange's markets, volumes, past candles and stream. */
export function venueProbes(venue: Venue, clock: Clock): readonly Probe[] {
  const limits = { pauseMs: venue.pauseMs, maxBytes: MAX_ANSWER_BYTES };
  // The shortest pauses after failures, because a person waits for the result.
  const client = new ServiceClient({ ...limits, clock, random: () => 0 });
  const ask = <T>(request: VenueRequest, read: Read<T>, signal: AbortSignal): Promise<T> =>
    client.require({ ...request, read }, signal);
  const pairOf = async (signal: AbortSignal) => {
    const pairs = await ask(venue.pairs.request, venue.pairs.read, signal);
    const found = pairs.find(({ base, quote }) => base === BASE && quote === QUOTE) ?? pairs[0];
    if (!found) throw new UnexpectedAnswer("has no market");
    return found.pair;
  };
  const service = venue.name;
  const host = new URL(venue.pairs.request.url).hostname;
  const probes: readonly Probe[] = [
    {
      service,
      host,
      what: "markets",
      run: async (signal) => `${(await ask(venue.pairs.request, venue.pairs.read, signal)).length} markets`,
    },
    {
      service,
      host,
      what: "volumes",
      run: async (signal) => `${(await ask(venue.volumes.request, venue.volumes.read, signal)).size} volumes`,
    },
    {
      service,
      host,
      what: "candles",
      run: async (signal) => {
        const pair = await pairOf(signal);
        const toMs = startOf(MINUTE_MS, clock.now());
        const request = venue.candles.request(pair, toMs - 10 * MINUTE_MS, toMs);
        const minutes = await ask(request, venue.candles.read, signal);
        if (minutes.length === 0)
          throw new UnexpectedAnswer(`has no candle of ${pair} in the last ten minutes`);
        return `${minutes.length} of ten minutes of ${pair}`;
      },
    },
    {
      service,
      host,
      what: "stream",
      run: async (signal) => {
        const pair = await pairOf(signal);
        const { ticket, endpoint } = venue.stream;
        const found = ticket ? await ask(ticket, endpoint, signal) : endpoint(undefined);
        return await firstCandle(venue, found, pair, clock, signal);
      },
    },
  ];
  return probes.map((probe) => client.remarked(probe));
}

/** Subscribes to the pair and waits for its first candle. Rejects if the connection ends first. */
async function firstCandle(
  venue: Venue,
  endpoint: ReturnType<Venue["stream"]["endpoint"]>,
  pair: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const connection = new StreamConnection({
    stream: venue.stream,
    endpoint,
    clock,
    pairs: [pair],
    onNews: (news) => {
      if (news.kind === "candle") resolve(`a candle of ${news.pair}`);
      if (news.kind === "refused") connection.close(news.reason);
    },
  });
  const leave = () => connection.close("stopped");
  signal.addEventListener("abort", leave, { once: true });
  try {
    const ended = connection.ended.then((reason): never => {
      throw new UnexpectedAnswer(reason);
    });
    return await Promise.race([promise, ended]);
  } finally {
    signal.removeEventListener("abort", leave);
    connection.close("done");
  }
}
