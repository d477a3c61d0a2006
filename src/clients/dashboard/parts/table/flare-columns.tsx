import { formatUsd } from "../../../../base/lib/text/figures.ts";
import { foldAddress, GROUP_FACTS, type GroupName } from "../../../../base/model/groups.ts";
import type { AnyFlare, Explanation, FinishCause, Outcome } from "../../../../base/model/index.ts";
import { groupOf, tokenOf } from "../../../../base/model/key-of.ts";
import { END_TEXTS, isHardToSell } from "../../../../base/model/text/end-texts.ts";
import { nameItem } from "../../../../base/model/text/item-name.ts";
import { formatMinutes } from "../../../text/span.ts";
import { flarePageHref, flaresHash, tokenHash } from "../../route.ts";
import { hourOf, type PlotCandle, priceAt } from "../../state/candles/plot.ts";
import type { FlareQuery } from "../../state/flare-query.ts";
import { isAnonymous } from "../../state/store.ts";
import { go } from "../../state/use-route.ts";
import { watchedIn } from "../../state/visitor/watched.ts";
import { CAUSE_MEANINGS } from "../../text/fate-text.ts";
import { Ago, Lasting } from "../flare/age.tsx";
import { Change } from "../flare/change.tsx";
import { CoursePlot, FlarePlot } from "../flare/flare-plot.tsx";
import { Price } from "../flare/price.tsx";
import { Surged } from "../flare/surge.tsx";
import {
  BuysSells,
  Liquidity,
  Measured,
  marketTag,
  OddsCell,
  TokenName,
  WatchStar,
  WhyChips,
} from "./cells.tsx";
import type { Column, TableRow } from "./column.ts";
import { TokenTable } from "./token-table.tsx";

/** A flare and what is known about it. */
interface FlareRow extends TableRow {
  readonly flare: AnyFlare;
  readonly why: Explanation | undefined;
  readonly outcome: Outcome | undefined;
  readonly cause: FinishCause | undefined;
  readonly candles: readonly PlotCandle[] | undefined;
  /** The price at its start; `undefined` if no event tells it. */
  readonly startPrice: number | undefined;
  /** End of the last closed minute. */
  readonly closedMs: number;
  readonly isWatched: boolean;
  /** The past moment that the list shows; `undefined`: now. */
  readonly atMs: number | undefined;
}

/** Warnings of a running flare that someone takes the money out, or that nobody gets it out. */
const DRAINED: readonly string[] = ["liquidity-removed", "liquidity-plunged", "price-collapsed"];

function isDrained(why: Explanation | undefined): boolean {
  return isHardToSell(why) || why?.warnings.some((warning) => DRAINED.includes(warning)) === true;
}

interface RowSource extends Pick<FlareRow, "flare" | "why"> {
  readonly outcome?: Outcome | undefined;
  readonly cause?: FinishCause | undefined;
  readonly candles?: FlareRow["candles"];
  readonly startPrice?: number | undefined;
  readonly closedMs?: number;
  readonly atMs?: number | undefined;
}

export function rowOf({ flare, why, outcome, cause, ...more }: RowSource): FlareRow {
  const isRunning = flare.finished_trending_at === null;
  const token = tokenOf(flare);
  return {
    key: flare.id,
    href: isRunning ? tokenHash(groupOf(flare), token) : flarePageHref(flare, isAnonymous.value),
    isDanger: isRunning && isDrained(why),
    flare,
    why,
    outcome,
    cause: cause ?? outcome?.ended_by ?? why?.finish_cause ?? undefined,
    candles: more.candles,
    startPrice: more.startPrice,
    closedMs: more.closedMs ?? 0,
    isWatched: watchedIn(groupOf(flare)).has(foldAddress(token)),
    atMs: more.atMs,
  };
}

/**
 * The change since the start, whose price is known or estimated from the closes around it;
 * `undefined` if neither.
 */
function sinceStart({ flare, candles, startPrice }: FlareRow): number | undefined {
  const start = startPrice ?? (candles && priceAt(candles, Date.parse(flare.started_trending_at)));
  return start && 100 * (Number(flare.token.price) / start - 1);
}

const ESTIMATED = "Estimated: the price at the start lies between the closes around it";

const hour = ({ flare, candles, closedMs }: FlareRow) =>
  candles && hourOf(candles, closedMs, Number(flare.token.price));

const STAR: Column<FlareRow> = {
  key: "watch",
  title: "",
  width: "28px",
  isText: true,
  cell: ({ flare, isWatched }) => <WatchStar flare={flare} isWatched={isWatched} />,
};

const TOKEN: Column<FlareRow> = {
  key: "token",
  title: "Token",
  width: "minmax(120px, 1.2fr)",
  isText: true,
  cell: ({ flare, why, href, cause }) => (
    <TokenName
      symbol={nameItem(flare) ?? ""}
      name={flare.token.name}
      href={href}
      tag={marketTag(flare)}
      warnings={why?.warnings}
      isQuiet={cause === "canary"}
    />
  ),
};

const LIQUIDITY: Column<FlareRow> = {
  key: "liquidity",
  title: "Liquidity",
  width: "92px",
  order: "liquidity",
  value: ({ flare }) => Number(flare.liquidity),
  cell: ({ flare, why }) => <Liquidity usd={flare.liquidity} why={why} />,
};

/** The columns of running flares. */
const RUNNING: readonly Column<FlareRow>[] = [
  STAR,
  TOKEN,
  {
    key: "hour",
    title: "Last hour",
    width: "156px",
    isText: true,
    cell: ({ flare, candles, closedMs }) => (
      <FlarePlot candles={candles} startMs={Date.parse(flare.started_trending_at)} closedMs={closedMs} />
    ),
  },
  { key: "price", title: "Price", width: "108px", cell: ({ flare }) => <Price value={flare.token.price} /> },
  {
    key: "since",
    title: "Since start",
    width: "104px",
    order: "since",
    value: sinceStart,
    cell: (row) => {
      const pct = sinceStart(row);
      return pct === undefined ? (
        <span title="The price at its start is not known">–</span>
      ) : (
        <span title={row.startPrice === undefined ? ESTIMATED : undefined}>
          <Change pct={pct} />
        </span>
      );
    },
  },
  {
    key: "five",
    title: "5 min",
    width: "76px",
    order: "change",
    value: ({ flare }) => flare.recent_price_change,
    cell: ({ flare }) => <Change pct={flare.recent_price_change} />,
  },
  {
    key: "sixty",
    title: "1 h",
    width: "76px",
    order: "hour",
    value: (row) => hour(row)?.change,
    cell: (row) => {
      const pct = hour(row)?.change;
      return pct === undefined ? "–" : <Change pct={pct} />;
    },
  },
  {
    key: "volume",
    title: "Volume 1 h",
    width: "84px",
    order: "volume",
    value: (row) => hour(row)?.volume,
    cell: (row) => formatUsd(String(hour(row)?.volume ?? 0)),
  },
  {
    key: "trades",
    title: "Buys / sells 5 min",
    width: "128px",
    order: "trades",
    value: ({ flare }) => flare.latest_buy_count,
    cell: ({ flare }) => <BuysSells buys={flare.latest_buy_count} sells={flare.latest_sell_count} />,
  },
  LIQUIDITY,
  {
    key: "odds",
    title: "Odds at start",
    width: "96px",
    order: "odds",
    value: ({ why }) => why?.odds?.up_15m?.share,
    cell: ({ flare, why, atMs }) => (
      <OddsCell why={why} startMs={Date.parse(flare.started_trending_at)} atMs={atMs} />
    ),
  },
  {
    key: "age",
    title: "Flaring for",
    width: "100px",
    order: "newest",
    cell: ({ flare, why, atMs }) => (
      <span class="pair">
        <span>
          <Lasting sinceMs={Date.parse(flare.started_trending_at)} untilMs={atMs} />
        </span>
        <Surged why={why} untilMs={atMs} />
      </span>
    ),
  },
  {
    key: "reasons",
    title: "Why",
    width: "minmax(200px, 2fr)",
    isText: true,
    order: "score",
    value: ({ why }) => why?.score,
    cell: ({ why }) => <WhyChips why={why} />,
  },
];

/** The columns of the first list, which the server renders without candles. */
const OF_FIRST: readonly string[] = ["token", "price", "five", "liquidity", "age", "reasons"];
export const FIRST = RUNNING.filter(({ key }) => OF_FIRST.includes(key));

/** Columns that need the candles of each minute. */
const OF_CANDLES: readonly string[] = ["hour", "sixty", "volume"];
/** Columns that exchanges cannot fill. */
const OF_CHAINS: readonly string[] = ["trades", "liquidity"];

/** Returns the columns that can be filled: an empty one would say nothing. */
export function runningColumns(
  group: GroupName,
  { hasCandles, hasStarts, hasOdds }: Readonly<Record<"hasCandles" | "hasStarts" | "hasOdds", boolean>>,
): readonly Column<FlareRow>[] {
  const isChain = GROUP_FACTS[group].kind === "chain";
  return RUNNING.filter(
    ({ key }) =>
      (hasCandles || hasStarts || key !== "since") &&
      (hasCandles || !OF_CANDLES.includes(key)) &&
      (isChain || !OF_CHAINS.includes(key)) &&
      (hasOdds || key !== "odds"),
  );
}

/** The cause of an end as a pill, filled only for a possible rug. */
function EndPill({ cause }: Pick<FlareRow, "cause">) {
  return (
    <span
      class={cause === "canary" ? "pill rug" : "pill"}
      title={cause === undefined ? undefined : CAUSE_MEANINGS[cause]}
    >
      {cause === undefined ? "ended" : END_TEXTS[cause]}
    </span>
  );
}

const END: Column<FlareRow> = {
  key: "how",
  title: "How it ended",
  width: "minmax(236px, 2fr)",
  isText: true,
  cell: ({ flare, cause }) => {
    const endMs = endOf(flare);
    const lastedMs = endMs - Date.parse(flare.started_trending_at);
    return (
      <>
        <EndPill cause={cause} />{" "}
        <span class="soft">
          <Ago atMs={endMs} />
          {`, after ${formatMinutes(lastedMs)}`}
        </span>
      </>
    );
  },
};

/** When a finished flare ended. */
function endOf({ finished_trending_at, started_trending_at }: AnyFlare): number {
  return Date.parse(finished_trending_at ?? started_trending_at);
}

const measured = (
  key: string,
  title: string,
  field: "peak_change" | "end_change" | "change_5m" | "change_15m" | "change_60m",
): Column<FlareRow> => ({
  key,
  title,
  width: "96px",
  ...(field === "peak_change" && { order: "change" as const }),
  value: ({ outcome }) => outcome?.[field] ?? undefined,
  cell: ({ flare, outcome, why }) => (
    <Measured pct={outcome?.[field]} why={why} startMs={Date.parse(flare.started_trending_at)} />
  ),
});

/** The columns of flares that have just ended. */
export const JUST_ENDED: readonly Column<FlareRow>[] = [
  TOKEN,
  END,
  measured("peak", "Peak", "peak_change"),
  measured("end", "At its end", "end_change"),
  measured("quarter", "15 min", "change_15m"),
  measured("sixty", "60 min", "change_60m"),
];

/** The columns of finished flares. */
export const FINISHED: readonly Column<FlareRow>[] = [
  STAR,
  TOKEN,
  {
    key: "hour",
    title: "Course",
    width: "156px",
    isText: true,
    cell: ({ flare, outcome }) => (
      <CoursePlot outcome={outcome} startMs={Date.parse(flare.started_trending_at)} endMs={endOf(flare)} />
    ),
  },
  { ...END, order: "newest", value: ({ flare }) => endOf(flare) },
  measured("peak", "Peak", "peak_change"),
  measured("end", "At its end", "end_change"),
  measured("five", "5 min", "change_5m"),
  measured("quarter", "15 min", "change_15m"),
  measured("sixty", "60 min", "change_60m"),
  LIQUIDITY,
];

interface FlareTableProps {
  /** Further classes of the table. */
  readonly kind: string;
  readonly columns: readonly Column<FlareRow>[];
  readonly rows: readonly FlareRow[];
  readonly query: FlareQuery;
}

/** The flares of a page, in the order that its address names. */
export function FlareTable({ kind, columns, rows, query }: FlareTableProps) {
  if (rows.length === 0) return null;
  return (
    <TokenTable
      kind={kind}
      columns={columns}
      rows={rows}
      order={query.order}
      onOrder={(order) => go(flaresHash({ ...query, order }), "push")}
    />
  );
}
