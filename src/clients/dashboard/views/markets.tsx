import { Component } from "preact";
import { GROUP_FACTS, GROUPS, type GroupName } from "../../../base/model/groups.ts";
import type { ChartItem, LeaderboardEntry, Listing } from "../../../base/model/index.ts";
import { tokenOf } from "../../../base/model/key-of.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import type { View } from "../../sdk/index.ts";
import { formatMinutes } from "../../text/span.ts";
import { Ago } from "../parts/flare/age.tsx";
import { Change } from "../parts/flare/change.tsx";
import { Price } from "../parts/flare/price.tsx";
import { ALL_GROUPS, Groups } from "../parts/groups.tsx";
import { Segments } from "../parts/segments.tsx";
import { Liquidity, TokenName } from "../parts/table/cells.tsx";
import type { Column, TableRow } from "../parts/table/column.ts";
import { TokenTable } from "../parts/table/token-table.tsx";
import { Outward } from "../parts/untrusted-text.tsx";
import { BOARDS, type Board, type MarketChoice, marketsHash, tokenHash } from "../route.ts";
import { lackedFacts, priceLabel, view } from "../state/store.ts";
import { go } from "../state/use-route.ts";
import { sourceText } from "../text/source-text.ts";

const LABELS = { strongest: "Strongest", longest: "Longest", new: "New" } as const satisfies Record<
  Board,
  string
>;

const ALL_STRONGEST =
  "The ten strongest tokens of each group, updated each minute, by their rise above the average of their last hour. Choose a group to see their places.";
const PLACED =
  "The ten strongest tokens, updated each minute. The place is the rise against the group's median, divided by the token's usual swings, so a calm token may be above one that rose more. In a falling group, they fell least.";

const NO_LISTS = { explanations: {} };

/** The tokens that stand out in each group, whether they flare or not. */
export function MarketsView({ board, group }: MarketChoice) {
  const hasListings = !lackedFacts.value.includes("listings");
  const words = priceLabel.value.replace("Price", "price");
  const about = {
    strongest: `${group === undefined ? ALL_STRONGEST : PLACED} Prices are the ${words}.`,
    longest: `How long each token was among the strongest of its group over the past six hours. Prices are the ${words}.`,
    new: "Tokens that were first listed on BSC within the last 15 minutes.",
  };
  return (
    <>
      <div class="headline">
        <div>
          <h2>Markets</h2>
          <p class="wide-text">{about[board]}</p>
        </div>
      </div>
      <div class="filters">
        <Segments
          legend="List"
          name="board"
          options={BOARDS.filter((one) => hasListings || one !== "new")}
          chosen={board}
          onChoose={(chosen) => go(marketsHash({ board: chosen, group }), "push")}
          label={(one) => LABELS[one]}
        />
        {board !== "new" && (
          <Groups
            options={ALL_GROUPS}
            chosen={group}
            onChoose={(chosen) => go(marketsHash({ board, group: chosen }), "push")}
          />
        )}
      </div>
      <Rows board={board} groups={group === undefined ? GROUPS : [group]} view={view.value ?? NO_LISTS} />
    </>
  );
}

function Rows({
  board,
  groups,
  view,
}: {
  readonly board: Board;
  readonly groups: readonly GroupName[];
  readonly view: View;
}) {
  if (board === "strongest") {
    const rows = groups.flatMap((group) => chartRows(group, view.charts?.[group] ?? []));
    if (rows.length === 0) return <p class="empty">The chart is empty. It is updated each minute.</p>;
    return (
      // Places of different groups are no common order.
      <TokenTable
        kind="strongest"
        columns={groups.length === 1 ? STRONGEST : UNPLACED}
        rows={groups.length === 1 ? rows : rows.toSorted((a, b) => riseOf(b) - riseOf(a))}
      />
    );
  }
  if (board === "longest") {
    const rows = groups.flatMap((group) => boardRows(group, view.leaderboards?.[group] ?? []));
    if (rows.length === 0) return <p class="empty">No token was in the chart within the past six hours.</p>;
    return (
      <TokenTable kind="longest" columns={LONGEST} rows={rows.toSorted((a, b) => b.lasted - a.lasted)} />
    );
  }
  const rows = (view.newest?.bsc ?? []).map(listingRow);
  if (rows.length === 0)
    return <p class="empty">No token was listed within the last 15 minutes. New ones appear here.</p>;
  return <TokenTable kind="new" columns={NEW} rows={rows} />;
}

interface MarketRow extends TableRow {
  readonly group: GroupName;
  readonly symbol: string;
  readonly name?: string | undefined;
  readonly price: string;
  readonly warnings?: readonly string[];
}

interface ChartRow extends MarketRow {
  /** From 1, in the chart of its group. */
  readonly place: number;
  readonly item: ChartItem;
}

const riseOf = ({ item }: ChartRow): number => item.price_change_from_average;

const RUG: readonly string[] = [END_TEXTS.canary];

function chartRows(group: GroupName, items: readonly ChartItem[]): readonly ChartRow[] {
  return items.map((item, at) => {
    const token = "flare" in item ? item.flare.token : item.token;
    const key = tokenOf({ token });
    return {
      key: `${group} ${item.id}`,
      href: tokenHash(group, key),
      group,
      symbol: token.symbol,
      name: "flare" in item ? item.flare.token.name : undefined,
      price: "most_recent_price" in item ? item.most_recent_price : token.price,
      place: at + 1,
      item,
      ...("flare" in item && item.flare.canary && { warnings: RUG }),
    };
  });
}

interface BoardRow extends MarketRow {
  readonly lasted: number;
  readonly rank: number;
}

function boardRows(group: GroupName, entries: readonly LeaderboardEntry[]): readonly BoardRow[] {
  return entries.map((entry) => {
    const token = entry.type === "flare" ? entry.object.token : entry.object;
    const key = tokenOf({ token });
    return {
      key: `${group} ${key}`,
      href: tokenHash(group, key),
      group,
      symbol: token.symbol,
      name: entry.type === "flare" ? entry.object.token.name : undefined,
      price: token.price,
      lasted: entry.time_trended,
      rank: entry.average_position,
    };
  });
}

interface ListingRow extends MarketRow {
  readonly listing: Listing;
}

function listingRow(listing: Listing): ListingRow {
  const { id, token } = listing;
  const { symbol, name, price } = token;
  return { key: id, href: tokenHash("bsc", token.address), group: "bsc", symbol, name, price, listing };
}

const TOKEN: Column<MarketRow> = {
  key: "token",
  title: "Token",
  width: "minmax(120px, 2fr)",
  isText: true,
  cell: ({ symbol, name, href, group, warnings }) => (
    <TokenName symbol={symbol} name={name} href={href} tag={GROUP_FACTS[group].label} warnings={warnings} />
  ),
};
const PRICE: Column<MarketRow> = {
  key: "price",
  title: "Price",
  width: "minmax(112px, 1fr)",
  cell: ({ price }) => <Price value={price} />,
};

const STRONGEST: readonly Column<ChartRow>[] = [
  { key: "place", title: "#", width: "40px", cell: ({ place }) => place },
  TOKEN,
  {
    key: "hour",
    title: "Last hour",
    width: "156px",
    isText: true,
    cell: ({ item }) => <Sparkline values={item.latest_candle_prices} />,
  },
  {
    key: "since",
    title: "Vs hour's average",
    width: "minmax(120px, 1fr)",
    cell: ({ item }) => <Change pct={item.price_change_from_average} digits={1} />,
  },
  PRICE,
  {
    key: "age",
    title: "In the chart",
    width: "minmax(96px, 1fr)",
    cell: ({ item }) => `${item.streak} min`,
  },
];

const UNPLACED = STRONGEST.slice(1);

const LONGEST: readonly Column<BoardRow>[] = [
  TOKEN,
  {
    key: "since",
    title: "In the chart",
    width: "minmax(100px, 1fr)",
    cell: ({ lasted }) => formatMinutes(1_000 * lasted),
  },
  {
    key: "age",
    title: "Mean place",
    width: "minmax(96px, 1fr)",
    cell: ({ rank }) => rank.toFixed(1),
  },
  PRICE,
];

const NEW: readonly Column<ListingRow>[] = [
  TOKEN,
  {
    key: "since",
    title: "Listed",
    width: "minmax(108px, 1fr)",
    cell: ({ listing }) => <Ago atMs={Date.parse(listing.listed_at)} />,
  },
  PRICE,
  {
    key: "liquidity",
    title: "Liquidity",
    width: "minmax(96px, 1fr)",
    cell: ({ listing }) => <Liquidity usd={listing.liquidity} why={undefined} />,
  },
  {
    key: "source",
    title: "Source code",
    width: "minmax(110px, 1fr)",
    isText: true,
    cell: ({ listing }) => sourceText(listing.contract_source, undefined),
  },
  {
    key: "links",
    title: "Links",
    width: "minmax(130px, 1fr)",
    isText: true,
    cell: ({ listing: { social_data } }) => (
      <span class="links">
        <Outward href={social_data?.website_url} label="site" />
        <Outward href={social_data?.chat_url} label="chat" />
        <Outward href={social_data?.microblog_url} label="posts" />
      </span>
    ),
  },
];

/** Size of a sparkline in its own units. */
const [WIDTH, HEIGHT] = [96, 24];

interface SparklineProps {
  /** Percent from the average, oldest first. */
  readonly values: readonly number[] | undefined;
}

/** A price curve with its average; empty if unknown. */
class Sparkline extends Component<SparklineProps> {
  override shouldComponentUpdate(next: SparklineProps): boolean {
    return next.values !== this.props.values;
  }

  override render({ values }: SparklineProps) {
    if (!values || values.length < 2) return <span class="spark" aria-hidden="true" />;
    const low = Math.min(0, ...values);
    const high = Math.max(0, ...values);
    const y = (value: number) => (HEIGHT - 1 - ((value - low) / (high - low || 1)) * (HEIGHT - 2)).toFixed(1);
    const x = (at: number) => ((at / (values.length - 1)) * WIDTH).toFixed(1);
    const path = values.map((value, at) => `${at === 0 ? "M" : "L"}${x(at)} ${y(value)}`).join("");
    const last = values.at(-1) ?? 0;
    const text = `${values.length} minutes: from ${low.toFixed(1)} to ${high.toFixed(1)} percent from the average, now ${last.toFixed(1)}`;
    return (
      <svg
        class={`spark ${last >= 0 ? "up" : "down"}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text}
      >
        <line x1="0" x2={WIDTH} y1={y(0)} y2={y(0)} />
        <path d={path} />
      </svg>
    );
  }
}
