import type { EventBody } from "../../../src/protocol/index.ts";
import type { MarketFile } from "../harness/market-file.ts";

/** Tokens of a watch-list. */
const TOKENS = 10;
/**
 * Of one address each token is named in at most; a prime, so that lists that are neighbours differ
 * in every place.
 */
const STEP = 7;

function tokensIn({ data }: EventBody): readonly string[] {
  const addresses = [...JSON.stringify(data).matchAll(/0x[0-9a-f]{40}\b/gi)];
  return [...new Set(addresses.map(([address]) => address.toLowerCase()))];
}

/** The tokens that anything happens to in the market, those with most events first. */
function busyTokens({ batches }: MarketFile): readonly string[] {
  const counts = new Map<string, number>();
  for (const token of batches.slice(0, -1).flat().flatMap(tokensIn))
    counts.set(token, (counts.get(token) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([token]) => token);
}

/**
 * So many watch-lists, no two alike, as addresses of streams. Each takes one token of every tenth
 * part of those that are sorted by how much happens to them, so that all have about equally much to
 * hear.
 */
export function watchLists(market: MarketFile, count: number): readonly string[] {
  const tokens = busyTokens(market);
  const choices = Math.floor(tokens.length / TOKENS);
  if (choices < 8) throw new Error(`the market has only ${tokens.length} tokens`);
  return Array.from({ length: count }, (_, list) => {
    const chosen = Array.from({ length: TOKENS }, (_, part) => {
      // The list's number in the base of the choices: its digits tell the first parts apart, and
      // its multiples the others.
      const digit = part < 4 ? Math.floor(list / choices ** part) : list * (part + STEP);
      return tokens[part * choices + (digit % choices)];
    });
    return `/api/v1/stream?channels=flares.*,newest.*,charts.*,leaderboards.*&snapshot=false&tokens=${chosen.join(",")}`;
  });
}

/**
 * The one of the watch-lists that has most nearly as many events and as many writes (batches with
 * any) as they have on the average in so many batches.
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

/** Happens seldom, so that shapes can differ in it and yet hear nearly the same. */
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
 * So many different selections, up to 16,384, that all hear nearly all of the market: they differ
 * in channels and names of which little comes.
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
