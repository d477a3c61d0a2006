import type { EventBody } from "../../../../src/base/protocol/index.ts";
import type { MarketFile } from "../harness/market-file.ts";

/** Number of tokens in a watch-list. */
const TOKENS = 10;
/** Number of parts whose tokens make each list different from the others. */
const FIRST_PARTS = 4;
/**
 * Factor between the lists' numbers and their later digits. It is prime, so that neighboring lists
 * differ in every token.
 */
const STEP = 7;

function tokensIn({ data }: EventBody): readonly string[] {
  const addresses = [...JSON.stringify(data).matchAll(/0x[0-9a-f]{40}\b/gi)];
  return [...new Set(addresses.map(([address]) => address.toLowerCase()))];
}

/** Returns the tokens of the market's events, those with most events first. */
function busyTokens({ batches }: MarketFile): readonly string[] {
  const counts = new Map<string, number>();
  for (const token of batches.slice(0, -1).flat().flatMap(tokensIn))
    counts.set(token, (counts.get(token) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([token]) => token);
}

/**
 * Returns `count` different watch-lists as addresses of streams. Tokens are sorted by their number
 * of events and divided into ten parts. Each list takes one token of each part, so that all lists
 * receive about the same number of events.
 */
export function watchLists(market: MarketFile, count: number): readonly string[] {
  const tokens = busyTokens(market);
  const choices = Math.floor(tokens.length / TOKENS);
  if (choices ** FIRST_PARTS < count)
    throw new Error(`the market has only ${tokens.length} tokens, too few for ${count} lists`);
  return Array.from({ length: count }, (_, list) => {
    const chosen = Array.from({ length: TOKENS }, (_, part) => {
      // The list's number in base `choices`: its digits make the first parts different, and its
      // multiples the other parts.
      const digit = part < FIRST_PARTS ? Math.floor(list / choices ** part) : list * (part + STEP);
      return tokens[part * choices + (digit % choices)];
    });
    return `/api/v1/stream?channels=flares.*,newest.*,charts.*,leaderboards.*&snapshot=false&tokens=${chosen.join(",")}`;
  });
}

/**
 * Returns the watch-list that is closest to the average of all, in events and in writes (batches
 * with at least one of its events), over the first `batches` batches.
 */
export function typicalList(market: MarketFile, lists: readonly string[], batches: number): string {
  const heard = market.batches.slice(0, batches).map((events) => events.map(tokensIn));
  const counts = lists.map((address) => {
    const tokens = new Set(address.split("tokens=")[1]?.split(","));
    const own = heard.map(
      (events) => events.filter((event) => event.some((token) => tokens.has(token))).length,
    );
    return { events: own.reduce((sum, count) => sum + count, 0), writes: own.filter(Boolean).length };
  });
  const mean = (pick: (count: (typeof counts)[number]) => number) =>
    counts.reduce((sum, count) => sum + pick(count), 0) / counts.length;
  const [events, writes] = [mean((count) => count.events), mean((count) => count.writes)];
  const distance = (at: number) =>
    Math.abs((counts[at]?.events ?? 0) / events - 1) + Math.abs((counts[at]?.writes ?? 0) / writes - 1);
  const best = lists.reduce((least, _, at) => (distance(at) < distance(least) ? at : least), 0);
  return lists[best] ?? "";
}

/** Rare events, so that shapes can differ in them and still receive nearly the same. */
const SELDOM_CHANNELS = [
  ...["flares.finished", "status", "charts.bsc", "charts.exchange", "charts.matic", "charts.avalanche"],
  ...["leaderboards.bsc", "leaderboards.exchange", "leaderboards.matic", "leaderboards.avalanche"],
];
const SELDOM_NAMES = ["flare-started", "flare-finished", "token-listed", "token-unlisted"];
const OFTEN_NAMES = [
  "flare-updated",
  "token-updated",
  "chart-updated",
  "leaderboard-updated",
  "source-status",
];

/**
 * Returns `count` different selections (at most 16,384) that all receive nearly all of the market.
 * They differ in channels and names that carry few events.
 */
export function differentShapes(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const without = (list: readonly string[], from: number) =>
      list.filter((_, bit) => ((at >> (from + bit)) & 1) === 0);
    const channels = ["flares.free", "flares.pro", "newest.bsc", ...without(SELDOM_CHANNELS, 0)];
    const names = [...OFTEN_NAMES, ...without(SELDOM_NAMES, SELDOM_CHANNELS.length)];
    return `/api/v1/stream?channels=${channels.join(",")}&names=${names.join(",")}&snapshot=false`;
  });
}
