import { roundTo } from "../../base/lib/statistics.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type {
  BscLeaderboardEntry,
  ChainLeaderboardEntry,
  ExchangeLeaderboardEntry,
} from "../../base/model/index.ts";
import type { TokenState } from "../state/token-state.ts";
import { viewChainToken, viewExchangeToken } from "./charts.ts";
import { viewNestedFlare } from "./flare-view.ts";

const WINDOW_MINUTES = 360;
const TOP = 10;
const DECIMALS = 4;

/** Returns the ten tokens charted longest in the last six hours; ties by mean rank, then key. */
export function standings(tokens: Iterable<TokenState>): TokenState[] {
  const charted = [...tokens].filter(({ chart }) => chart.rankCount > 0);
  charted.sort(
    (a, b) =>
      b.chart.rankCount - a.chart.rankCount ||
      a.chart.rankSum / a.chart.rankCount - b.chart.rankSum / b.chart.rankCount ||
      (a.key < b.key ? -1 : 1),
  );
  return charted.slice(0, TOP);
}

/** Replaces the rank of six hours ago with the rank now, or with 0 if the group has no data. */
export function recordRank(token: TokenState, atMs: number, isObserved: boolean): void {
  const { chart } = token;
  if (chart.rank === 0 && !chart.ranks) return;
  chart.ranks ??= new Uint8Array(WINDOW_MINUTES);
  const slot = Math.floor(atMs / MINUTE_MS) % WINDOW_MINUTES;
  const gone = chart.ranks[slot] ?? 0;
  if (gone > 0) {
    chart.rankSum -= gone;
    chart.rankCount -= 1;
  }
  const rank = isObserved ? chart.rank : 0;
  chart.ranks[slot] = rank;
  if (rank > 0) {
    chart.rankSum += rank;
    chart.rankCount += 1;
  }
}

/** Renders an entry of the leaderboard of `bsc` at `atMs`. */
export function viewBscStanding(token: TokenState, atMs: number): BscLeaderboardEntry {
  return { type: "flare", ...viewTime(token), object: viewNestedFlare(token, atMs) };
}

export function viewExchangeStanding(token: TokenState): ExchangeLeaderboardEntry {
  return { type: "token", ...viewTime(token), object: viewExchangeToken(token) };
}

export function viewChainStanding(token: TokenState): ChainLeaderboardEntry {
  return { type: "token", ...viewTime(token), object: viewChainToken(token) };
}

function viewTime({ chart: { rankCount, rankSum } }: TokenState) {
  return { time_trended: rankCount * 60, average_position: roundTo(rankSum / rankCount, DECIMALS) };
}
