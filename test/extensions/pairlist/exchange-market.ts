import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/base/model/index.ts";
import { SAMPLE_EXCHANGE_FLARE, SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";

/** Returns a market whose exchange chart has tokens with these symbols. */
export function chartOf(symbols: readonly string[]): Snapshot {
  const [item] = SAMPLE_SNAPSHOT.charts.exchange;
  if (!item) throw new Error("the sample has no chart");
  const exchange = symbols.map((symbol, at) => ({
    ...item,
    id: `0000000${at}-e2bb-5255-8caf-4136c566a962`,
    token: { ...item.token, symbol },
  }));
  return { ...EMPTY_SNAPSHOT, charts: { ...EMPTY_SNAPSHOT.charts, exchange } };
}

/** Returns a market with flares of these pairs, `binance:BTC/USDT`. Without a pair: `BTC`. */
export function flaresOf(pairs: readonly string[], free: readonly string[] = []): Snapshot {
  const flareOf = (text: string) => {
    const [, exchange = null, pair = text] = /^(\w+):(.*)$/.exec(text) ?? [];
    const symbol = pair.split("/")[0] ?? "";
    return {
      ...SAMPLE_EXCHANGE_FLARE,
      id: `${Buffer.from(text).toString("hex").padEnd(8, "0").slice(0, 8)}-e2bb-5255-8caf-4136c566a962`,
      exchange,
      pair: pair.includes("/") ? pair : null,
      token: { ...SAMPLE_EXCHANGE_FLARE.token, symbol },
    };
  };
  const lists = { free: free.map(flareOf), pro: pairs.map(flareOf), finished_trending: [] };
  return { ...EMPTY_SNAPSHOT, "flares.exchange": lists };
}
