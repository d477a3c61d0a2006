import type { MarketFile } from "../harness/market-file.ts";

/** Tokens of a watch-list. */
const TOKENS = 10;
/** Of one address each token is named in at most; a prime, so that lists that are neighbours differ in every place. */
const STEP = 7;

/** The tokens that anything happens to in the market, those with most events first. */
export function busyTokens({ batches }: MarketFile): readonly string[] {
  const counts = new Map<string, number>();
  for (const event of batches.slice(0, -1).flat()) {
    for (const [address] of JSON.stringify(event.data).matchAll(/0x[0-9a-f]{40}\b/gi)) {
      const token = address.toLowerCase();
      counts.set(token, (counts.get(token) ?? 0) + 1);
    }
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([token]) => token);
}

/**
 * So many watch-lists, no two alike, as addresses of streams. Each takes one token of every tenth part of those that are sorted by how much happens to them, so that
 * all have about equally much to hear.
 */
export function watchLists(market: MarketFile, count: number): readonly string[] {
  const tokens = busyTokens(market);
  const choices = Math.floor(tokens.length / TOKENS);
  if (choices < 8) throw new Error(`the market has only ${tokens.length} tokens`);
  return Array.from({ length: count }, (_, list) => {
    const chosen = Array.from({ length: TOKENS }, (_, part) => {
      // The list's number in the base of the choices: its digits tell the first parts apart, and its multiples the others.
      const digit = part < 4 ? Math.floor(list / choices ** part) : list * (part + STEP);
      return tokens[part * choices + (digit % choices)];
    });
    return `/api/v1/stream?channels=flares.*,newest.*,charts.*,leaderboards.*&snapshot=false&tokens=${chosen.join(",")}`;
  });
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

/** So many different selections, up to 16,384, that all hear nearly all of the market: they differ in channels and names of which little comes. */
export function differentShapes(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const without = (list: readonly string[], from: number) =>
      list.filter((_, bit) => ((at >> (from + bit)) & 1) === 0);
    const channels = ["flares.free", "flares.pro", "newest.bsc", ...without(SELDOM_CHANNELS, 0)];
    const names = [...OFTEN_NAMES, ...without(SELDOM_NAMES, SELDOM_CHANNELS.length)];
    return `/api/v1/stream?channels=${channels.join(",")}&names=${names.join(",")}&snapshot=false`;
  });
}
