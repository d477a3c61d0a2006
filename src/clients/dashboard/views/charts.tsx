import { Component } from "preact";
import type { GroupName } from "../../../base/model/groups.ts";
import type { ChartItem } from "../../../base/model/index.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import type { View } from "../../sdk/index.ts";
import { Change } from "../parts/flare/change.tsx";
import { Gliding } from "../parts/flare/gliding.tsx";
import { Price } from "../parts/flare/price.tsx";
import { Groups, type GroupsProps } from "../parts/groups.tsx";
import { usePriceWords } from "../parts/market.ts";
import { TokenName } from "../parts/untrusted-text.tsx";
import { tokenHash } from "../route.ts";

/** Size of a sparkline in its own units. */
const [WIDTH, HEIGHT] = [96, 24];

/** The ten strongest tokens of each group, relative to their group, updated each minute. */
export function ChartsView({ view, ...props }: { readonly view: View } & Omit<GroupsProps, "page">) {
  return (
    <>
      <h2>Charts</h2>
      <p class="legend">
        The ten strongest tokens of each group. The rank is the rise against the group's median, divided by
        the token's usual swings, so a calm token may be above one that rose more. In a falling group, they
        fell least. Each row shows the last hour, the distance from the hour's average, the {usePriceWords()},
        and the minutes in the chart.
      </p>
      <Groups page="charts" {...props}>
        {(group) => <Chart group={group} items={view.charts?.[group] ?? []} />}
      </Groups>
    </>
  );
}

interface ChartProps {
  readonly group: GroupName;
  readonly items: readonly ChartItem[];
}

function Chart({ group, items }: ChartProps) {
  if (items.length === 0) return <p class="empty">The chart is empty. It is updated each minute.</p>;
  return (
    <Gliding as="ol" class="ranks" order={items.map(({ id }) => id).join()}>
      {items.map((item) => {
        const token = "flare" in item ? item.flare.token : item.token;
        return (
          <li key={item.id}>
            <span class="ranked">
              <TokenName
                symbol={token.symbol}
                href={tokenHash(group, "address" in token ? String(token.address) : token.symbol)}
              />
              {"flare" in item && item.flare.canary && <span class="warned">⚠ {END_TEXTS.canary}</span>}
            </span>
            <Sparkline values={item.latest_candle_prices} />
            <Change pct={item.price_change_from_average} digits={1} />
            <Price value={"most_recent_price" in item ? item.most_recent_price : token.price} />
            <small class="more">{item.streak} min</small>
          </li>
        );
      })}
    </Gliding>
  );
}

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
        role="img"
        aria-label={text}
      >
        <line x1="0" x2={WIDTH} y1={y(0)} y2={y(0)} />
        <path d={path} />
      </svg>
    );
  }
}
