import type { GroupName } from "../../../base/lib/text/group-labels.ts";
import type { ChartItem } from "../../../base/model/index.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import type { View } from "../../sdk/index.ts";
import { Change } from "../parts/flare/change.tsx";
import { Gliding } from "../parts/flare/gliding.tsx";
import { Price } from "../parts/flare/price.tsx";
import { Sparkline } from "../parts/flare/sparkline.tsx";
import { Groups, type GroupsProps } from "../parts/groups.tsx";
import { usePriceWords } from "../parts/market.ts";
import { TokenName } from "../parts/untrusted-text.tsx";
import { tokenHash } from "../route.ts";

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
