import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { createBinance } from "../../../src/feeds/exchange/binance.ts";
import { createExchangeFeed } from "../../../src/feeds/exchange/exchange-feed.ts";
import { messageOf, TradeTape } from "../../feeds/exchange/stand-in-trades.ts";
import { LineProcess } from "./harness/line-process.ts";
import type { Row } from "./report.ts";

const PAIRS = 400;
const RATE = 4_000;
const WARM_MS = 5_000;
const SERVER = fileURLToPath(new URL("exchange-trades-server.ts", import.meta.url));

/**
 * Measures what the exchange feed costs with many trades: from a stand-in in another process, over
 * a real connection, to the events. The feed runs in this process, without an engine.
 */
export async function benchExchangeTrades(seconds: number): Promise<Row[]> {
  const server = new LineProcess("load", process.execPath, [SERVER, String(PAIRS)]);
  const url = await server.line();
  const stop = new AbortController();
  const feed = createExchangeFeed({
    venues: [createBinance({ url, streamUrl: url.replace("http", "ws") })],
    quotes: ["USDT"],
    minVolume: 1,
    warmupMs: 0,
    clock: systemClock,
  });
  const delays: number[] = [];
  const reading = (async () => {
    for await (const event of feed.events(stop.signal))
      if (event.kind === "trade") delays.push(Date.now() - event.at);
  })();
  try {
    await sleep(WARM_MS);
    const quiet = await measure(seconds, () => delays.length);
    await server.ask(String(RATE));
    await sleep(WARM_MS);
    const from = delays.length;
    const busy = await measure(seconds, () => delays.length);
    const made = Number(await server.ask("0"));
    await sleep(WARM_MS);
    const sorted = delays.slice(from).toSorted((one, two) => one - two);
    const quantile = (share: number) => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
    const { share, bytes } = parseAlone();
    const trades = `${busy.rate.toFixed(0)} trades/s in ${PAIRS} pairs`;
    return [
      { what: `${trades}: CPU of the feed`, value: busy.share * 100, unit: "% of a core", aim: "≤ 25" },
      { what: "candles and tickers alone", value: quiet.share * 100, unit: "% of a core", aim: "told" },
      { what: `JSON of ${RATE} trades/s alone`, value: share * 100, unit: "% of a core", aim: "told" },
      { what: "a trade as Binance sends it", value: bytes, unit: "bytes", aim: "told" },
      { what: "from the trade to its event, median", value: quantile(0.5), unit: "ms", aim: "< 1,000" },
      { what: "the same, p99", value: quantile(0.99), unit: "ms", aim: "< 1,000" },
      { what: "trades that did not arrive once", value: made - delays.length, unit: "trades", aim: "0" },
    ];
  } finally {
    stop.abort();
    await reading;
    await server.stop();
  }
}

/** Returns the share of a core that this process uses, and the trades per second. */
async function measure(
  seconds: number,
  count: () => number,
): Promise<{ readonly share: number; readonly rate: number }> {
  const [cpu, began, before] = [process.cpuUsage(), performance.now(), count()];
  await sleep(seconds * 1_000);
  const { user, system } = process.cpuUsage(cpu);
  const elapsedMs = performance.now() - began;
  return { share: (user + system) / 1_000 / elapsedMs, rate: ((count() - before) / elapsedMs) * 1_000 };
}

/** Measures parsing the same messages, and nothing else. */
function parseAlone(): { readonly share: number; readonly bytes: number } {
  const tape = new TradeTape("binance");
  const texts = Array.from({ length: RATE }, (_, index) =>
    JSON.stringify(messageOf(tape.make(`T${index % PAIRS}USDT`, Date.now()))),
  );
  const rounds = 25;
  const cpu = process.cpuUsage();
  for (let round = 0; round < rounds; round++) for (const text of texts) JSON.parse(text);
  const { user, system } = process.cpuUsage(cpu);
  return {
    share: (user + system) / 1e6 / rounds,
    bytes: texts.reduce((sum, text) => sum + text.length, 0) / texts.length,
  };
}
