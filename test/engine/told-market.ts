import type {
  AnyFlare,
  ChartItem,
  Explanation,
  LeaderboardEntry,
  Outcome,
  Snapshot,
} from "../../src/base/model/index.ts";
import { GROUPS, groupOf } from "../../src/base/model/index.ts";
import type { TrendEngine } from "../../src/engine/index.ts";
import { MINUTE, SECOND, START } from "./trend-kit.ts";

/** The groups with tokens in the busy market. */
const MARKET_GROUPS = ["bsc", "exchange", "matic", "avalanche"] as const;

/*
 * Tells what an engine serves in one line per event: starts, surges, warnings and ends of flares
 * with their numbers and outcomes, and charts, leaderboards, new listings and candles from time to
 * time. Only the fields that are named here count, so a further field changes nothing.
 */

/** Returns `m:ss` since the market's start. */
function clockText(ms: number): string {
  const seconds = Math.round((ms - START) / SECOND);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Returns a time of the API in the same form. */
const moment = (text: string | null | undefined) => (text ? clockText(Date.parse(text)) : "-");
const five = (text: string | null) => (text === null ? "-" : Number(text).toPrecision(5));
const nameOf = ({ address, symbol }: { readonly address?: string | undefined; readonly symbol: string }) =>
  address === undefined ? symbol : String(Number(address));

function explained({
  score,
  threshold,
  finish_threshold,
  terms,
  warnings,
  form,
  age_s,
  locked,
  surge,
}: Explanation): string {
  const of = terms.map(
    ({ name, raw, usual, z, weight }) => `${name} ${raw}/${usual ?? "-"} z${z} w${weight}`,
  );
  const kept = locked ? `${locked.burned}+${locked.held} until ${moment(locked.until)}` : "-";
  const more = surge ? ` surge ${surge.number}` : "";
  return `${form} ${score} of ${threshold}/${finish_threshold}: ${of.join(", ")}; ${warnings.join(" ") || "no warning"}; age ${age_s ?? "-"} locked ${kept}${more}`;
}

function shown(flare: AnyFlare): string {
  const {
    recent_price_change,
    previous_price_change,
    latest_buy_count,
    latest_sell_count,
    liquidity,
    token,
  } = flare;
  const links = flare.social_data === null ? "no links" : JSON.stringify(flare.social_data);
  return `${nameOf(token)} ${five(token.price)} ${recent_price_change}%/${previous_price_change}% ${latest_buy_count}b ${latest_sell_count}s $${five(liquidity)} ${flare.contract_source.status} ${links}`;
}

function measured(outcome: Outcome): string {
  const { start_price, peak_price, peak_at, peak_change, end_price, end_change } = outcome;
  const changes = [outcome.change_5m, outcome.change_15m, outcome.change_60m];
  const relative = [outcome.relative_change_5m, outcome.relative_change_15m, outcome.relative_change_60m];
  const collapse = `${moment(outcome.collapsed_at)} after ${outcome.collapse_warning_s ?? "-"}`;
  return `${five(start_price)} peak ${five(peak_price)} ${moment(peak_at)} ${peak_change} end ${five(end_price)} ${end_change} changes ${changes} relative ${relative} gave back ${outcome.given_back} collapsed ${collapse} held ${Object.values(outcome.held ?? {})} from ${outcome.start_score} $${outcome.start_liquidity} control ${JSON.stringify(outcome.control?.change_5m)} ${outcome.final ? "final" : "so far"}`;
}

function charted(item: ChartItem): string {
  const token = "flare" in item ? item.flare.token : item.token;
  const { streak, price_change_from_average: change, most_recent_price_average: average } = item;
  const nested = "flare" in item ? item.flare : undefined;
  const counts = "buy_count" in item ? ` ${item.buy_count}b ${item.sell_count}s` : "";
  const mean = "recent_average_price" in item ? ` mean ${five(item.recent_average_price)}` : "";
  const canary = nested ? `${nested.canary ? "!" : ""}${moment(nested.canary_at)} ${nested.relevant}` : "";
  return `${nameOf(token)} ${change}% of ${five(average)} x${streak}${counts}${mean} ${canary} [${item.latest_candle_prices.slice(-2)}]`;
}

function ranked({ object, time_trended, average_position }: LeaderboardEntry): string {
  return `${nameOf("token" in object ? object.token : object)} ${time_trended}s #${average_position}`;
}

/** Collects the lines of one engine. Call `look` with each of its snapshots. */
export function createTeller(engine: TrendEngine) {
  const lines: string[] = [];
  const running = new Map<
    string,
    { readonly free: boolean; readonly warnings: string; readonly surge: number }
  >();
  const ended = new Map<string, boolean>();
  let newest = "";
  let minuteMs = START;

  const tell = (atMs: number, text: string) => lines.push(`${clockText(atMs)} ${text}`);
  const listsOf = (snapshot: Snapshot) =>
    GROUPS.map((group) => (group === "bsc" ? snapshot.flares : snapshot[`flares.${group}`]));

  function lookAtFlares(snapshot: Snapshot, atMs: number): void {
    for (const { free, pro, finished_trending } of listsOf(snapshot)) {
      const isFree = new Set<string>(free.map(({ id }) => id));
      for (const flare of pro) {
        const why = snapshot.explanations[flare.id];
        if (!why) continue;
        const before = running.get(flare.id);
        const now = {
          free: isFree.has(flare.id),
          warnings: why.warnings.join(" "),
          surge: why.surge?.number ?? 0,
        };
        running.set(flare.id, now);
        if (!before)
          tell(
            atMs,
            `start ${groupOf(flare)} ${moment(flare.started_trending_at)} ${shown(flare)} | ${explained(why)}`,
          );
        else if (before.surge !== now.surge) tell(atMs, `surge ${nameOf(flare.token)} | ${explained(why)}`);
        else if (before.warnings !== now.warnings) tell(atMs, `warn ${nameOf(flare.token)} ${now.warnings}`);
        if (now.free !== (before?.free ?? false)) tell(atMs, `free ${nameOf(flare.token)} ${now.free}`);
      }
      for (const flare of finished_trending) {
        const outcome = snapshot.outcomes[flare.id];
        const why = snapshot.explanations[flare.id];
        if (!outcome || !why || ended.get(flare.id) === outcome.final) continue;
        const what = ended.has(flare.id)
          ? "final"
          : `end by ${why.finish_cause} ${moment(flare.started_trending_at)}`;
        ended.set(flare.id, outcome.final);
        running.delete(flare.id);
        tell(
          atMs,
          `${what} until ${moment(flare.finished_trending_at)} ${shown(flare)} | ${measured(outcome)} | ${explained(why)}`,
        );
      }
    }
  }

  function lookAtMinute(snapshot: Snapshot, atMs: number): void {
    const minute = Math.round((atMs - START) / MINUTE);
    for (const group of MARKET_GROUPS) {
      const chart = snapshot.charts[group].map(charted).join("; ");
      const board = snapshot.leaderboards[group].map(ranked).join("; ");
      if (minute % 15 === 0) tell(atMs, `chart ${group}: ${chart}`);
      if (minute % 30 === 0) tell(atMs, `board ${group}: ${board}`);
    }
    if (minute % 15 !== 0) return;
    for (const [token, candles] of Object.entries(snapshot.candles.bsc)) {
      const last = candles
        .slice(-6)
        .map(({ open_at, open, high, low, close, volume, buys, sells }) =>
          [moment(open_at), five(open), five(high), five(low), five(close), five(volume), buys, sells].join(
            " ",
          ),
        );
      tell(atMs, `candles ${Number(token)} ${candles.length}: ${last.join("; ")}`);
    }
  }

  return {
    lines,
    look(snapshot: Snapshot, atMs: number): void {
      lookAtFlares(snapshot, atMs);
      const listed = snapshot.newest.bsc
        .map(
          ({ token, listed_at, liquidity, pool }) =>
            `${nameOf(token)} ${moment(listed_at)} $${liquidity} ${pool.slice(-6)}`,
        )
        .join("; ");
      if (listed !== newest) tell(atMs, `newest: ${listed}`);
      newest = listed;
      if (atMs < minuteMs) return;
      minuteMs = (Math.floor(atMs / MINUTE) + 1) * MINUTE;
      lookAtMinute(snapshot, atMs);
    },
    /** Tells the present numbers of a token, whether it flares or not. */
    read(group: (typeof GROUPS)[number], token: string, atMs: number): void {
      const why = engine.readingOf(group, token);
      const trend = engine.trendOf(group, token);
      if (!why || !trend) return;
      const canary = trend.canarySinceMs === null ? "" : ` canary ${clockText(trend.canarySinceMs)}`;
      const price = trend.price
        ? `${trend.price.value.toPrecision(5)} of ${clockText(trend.price.atMs)}`
        : "-";
      tell(
        atMs,
        `read ${group} ${Number(token) || token} ${price}${canary}${trend.hasReversed ? " reversed" : ""} | ${explained(why)}`,
      );
    },
  };
}
