import { reuseIfEqual, reuseListIfSame } from "../../base/lib/reuse.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { FeedFacts, MarketGroup } from "../../base/market/index.ts";
import {
  byForm,
  byGroup,
  type ChartItem,
  type Charts,
  chartsBy,
  keyOf,
  type LeaderboardEntry,
  type Leaderboards,
  leaderboardsBy,
} from "../../base/model/index.ts";
import type { Markets } from "../detect/market.ts";
import type { DetectorSettings } from "../settings.ts";
import { judgeRelevance, type TokenState } from "../state/token-state.ts";
import { type Candidate, rankTokens, viewBscItem, viewChainItem, viewExchangeItem } from "./charts.ts";
import {
  recordRank,
  standings,
  viewBscStanding,
  viewChainStanding,
  viewExchangeStanding,
} from "./leaderboards.ts";

/** The charts and leaderboards of one minute. */
export interface ServedRankings {
  readonly charts: Charts;
  readonly leaderboards: Leaderboards;
}

const NOTHING: ServedRankings = { charts: byGroup(() => []), leaderboards: byGroup(() => []) };

interface Minute {
  readonly atMs: number;
  readonly tokensOf: (group: MarketGroup) => Iterable<TokenState>;
  readonly markets: Readonly<Markets>;
}

interface Views {
  readonly item: (candidate: Candidate, atMs: number) => ChartItem;
  readonly standing: (token: TokenState, atMs: number) => LeaderboardEntry;
}

const VIEWS = byForm<Views, Views, Views>(
  { item: viewBscItem, standing: viewBscStanding },
  { item: viewExchangeItem, standing: viewExchangeStanding },
  { item: viewChainItem, standing: viewChainStanding },
);

/** Maintains charts and leaderboards, which change at whole minutes only. */
export class Rankings {
  readonly #facts: FeedFacts;
  readonly #settings: DetectorSettings;
  /** Tokens in a chart now or within the past six hours. */
  readonly #charted: Readonly<Record<MarketGroup, Set<TokenState>>>;
  #served: ServedRankings;
  #isDirty = true;

  /** @param served The charts and leaderboards of a checkpoint. */
  constructor(facts: FeedFacts, settings: DetectorSettings, served = NOTHING) {
    this.#facts = facts;
    this.#settings = settings;
    this.#charted = byGroup(() => new Set());
    // A checkpoint of an earlier version may lack groups.
    this.#served = {
      charts: { ...NOTHING.charts, ...served.charts },
      leaderboards: { ...NOTHING.leaderboards, ...served.leaderboards },
    };
  }

  get isDirty(): boolean {
    return this.#isDirty;
  }

  resume(token: TokenState): void {
    if (token.chart.rank > 0 || token.chart.rankCount > 0) this.#charted[token.group].add(token);
  }

  /** Ranks every group at a whole minute. */
  step(now: Minute): void {
    const { charts, leaderboards } = this.#served;
    const ranked = byGroup((group) => this.#stepGroup(group, now));
    const next: ServedRankings = {
      charts: reuseIfEqual(
        charts,
        chartsBy((group) => ranked[group].chart),
      ),
      leaderboards: reuseIfEqual(
        leaderboards,
        leaderboardsBy((group) => ranked[group].board),
      ),
    };
    this.#isDirty ||= next.charts !== charts || next.leaderboards !== leaderboards;
    this.#served = next;
  }

  /** Returns charts and leaderboards. Unchanged ones are the same objects as before. */
  serve(): ServedRankings {
    this.#isDirty = false;
    return this.#served;
  }

  /** The current charts and leaderboards, for a checkpoint. */
  get served(): ServedRankings {
    return this.#served;
  }

  #stepGroup(group: MarketGroup, { atMs, tokensOf, markets }: Minute) {
    const views: Views = VIEWS[group];
    const chartBefore: ChartItem[] = this.#served.charts[group];
    const boardBefore: LeaderboardEntry[] = this.#served.leaderboards[group];
    const charted = this.#charted[group];
    const market = markets[group];
    const isObserved = market.heardMs > atMs - MINUTE_MS;
    const ranked = rankTokens(tokensOf(group), atMs, market, this.#facts, this.#settings);
    const board = standings(charted);
    assignRanks(charted, ranked, atMs, isObserved);
    const chart = ranked.map((candidate) => views.item(candidate, atMs));
    const entries = board.map((token) => views.standing(token, atMs));
    for (const token of charted) {
      recordRank(token, atMs, isObserved);
      if (token.chart.rank > 0 || token.chart.rankCount > 0) continue;
      charted.delete(token);
      token.chart.ranks = null;
    }
    return { chart: keepItems(chartBefore, chart), board: keepItems(boardBefore, entries) };
  }
}

/**
 * Sets each token's rank (0 outside the chart), streak and relevance. Streaks grow only in minutes
 * with data.
 */
function assignRanks(
  charted: Set<TokenState>,
  ranked: readonly Candidate[],
  atMs: number,
  isObserved: boolean,
): void {
  const ranks = new Map(ranked.map(({ token }, index) => [token, index + 1]));
  for (const token of ranks.keys()) charted.add(token);
  for (const token of charted) {
    const { chart } = token;
    chart.rank = ranks.get(token) ?? 0;
    if (chart.rank === 0) chart.streak = 0;
    else if (isObserved || chart.streak === 0) chart.streak += 1;
    judgeRelevance(token, atMs);
  }
}

/** Returns the new list, with every item that equals its predecessor replaced by that object. */
function keepItems<T extends ChartItem | LeaderboardEntry>(before: T[], after: T[]): T[] {
  const previous = new Map(before.map((item) => [keyOf(item), item]));
  return reuseListIfSame(
    before,
    after.map((item) => reuseIfEqual(previous.get(keyOf(item)), item)),
  );
}
