import type { z } from "zod";
import { jsonEqual } from "../../lib/json-equal.ts";
import { MINUTE_MS } from "../../lib/time/time.ts";
import { CANDLE_MINUTES, type Candle, type Candles } from "../../model/candles.ts";
import type { CandlesClosed } from "../event.ts";

type CandleChange = z.infer<typeof CandlesClosed>["data"];

/** Returns the candles after a change (law L1). */
export function applyCandles(candles: Candles, { closed_at, tokens, gone }: CandleChange): Candles {
  const next = new Map(Object.entries(candles.bsc));
  for (const address of gone) next.delete(address);
  if (closed_at !== candles.closed_at)
    for (const [address, before] of next) next.set(address, withoutOld(before, closed_at));
  for (const { address, from, candles: added } of tokens) {
    const before = (next.get(address) ?? []).filter(({ open_at }) => open_at < from);
    next.set(address, [...before, ...added]);
  }
  return { closed_at, bsc: Object.fromEntries(next) };
}

/** Returns the changes that turn `before` into `after`; `undefined` if they are equal. */
export function diffCandles(before: Candles, after: Candles): CandleChange | undefined {
  if (before === after) return undefined;
  const { closed_at } = after;
  const gone = Object.keys(before.bsc).filter((address) => !Object.hasOwn(after.bsc, address));
  const tokens = Object.entries(after.bsc).flatMap(([address, is]) => {
    const held = Object.hasOwn(before.bsc, address) ? before.bsc[address] : undefined;
    if (held === is && before.closed_at === closed_at) return [];
    const was = withoutOld(held ?? [], closed_at);
    const firstDifferent = is.findIndex((candle, index) => !jsonEqual(was[index], candle));
    const first = firstDifferent < 0 ? is.length : firstDifferent;
    if (held && first === is.length && first === was.length) return [];
    const from = earlier(is[first], was[first]) ?? closed_at ?? "";
    return [{ address, from, candles: is.slice(first) }];
  });
  if (closed_at === before.closed_at && gone.length + tokens.length === 0) return undefined;
  return { group: "bsc", closed_at, tokens, gone };
}

function withoutOld(candles: Candle[], closedAt: string | null): Candle[] {
  if (closedAt === null) return candles;
  const since = new Date(Date.parse(closedAt) - CANDLE_MINUTES * MINUTE_MS).toISOString();
  const first = candles.findIndex(({ open_at }) => open_at >= since);
  return first < 0 ? [] : first === 0 ? candles : candles.slice(first);
}

function earlier(a: Candle | undefined, b: Candle | undefined): string | undefined {
  if (!a || !b) return (a ?? b)?.open_at;
  return a.open_at < b.open_at ? a.open_at : b.open_at;
}
