import type { View } from "../../client/index.ts";
import type { ChartItem } from "../../model/index.ts";
import { Change } from "../parts/flare/change.tsx";
import { Gliding } from "../parts/flare/gliding.tsx";
import { Price } from "../parts/flare/price.tsx";
import { Sparkline } from "../parts/flare/sparkline.tsx";
import { Groups } from "../parts/groups.tsx";
import { TokenName } from "../parts/stranger.tsx";

/** By group the ten that do best against their group, each minute. */
export function ChartsView({ view }: { readonly view: View }) {
  return (
    <>
      <p class="legend">
        The ten of each group that do best against the group's median, for their risk. When all of a group
        falls, they are those that fall least. Each has the course of its last hour, how far it is now above
        or below the hour's average, its price, and its time on the chart.
      </p>
      <Groups name="chart">{(group) => <Chart items={view.charts?.[group] ?? []} />}</Groups>
    </>
  );
}

function Chart({ items }: { readonly items: readonly ChartItem[] }) {
  if (items.length === 0)
    return <p class="empty">Nothing rises here now. The chart is made anew each minute.</p>;
  return (
    <Gliding as="ol" class="ranks" order={items.map(({ id }) => id).join()}>
      {items.map((item) => {
        const token = "flare" in item ? item.flare.token : item.token;
        return (
          <li key={item.id}>
            <span class="ranked">
              <TokenName
                symbol={token.symbol}
                address={"flare" in item ? item.flare.token.address : undefined}
              />
              {"flare" in item && item.flare.canary && <span class="warned">⚠ canary</span>}
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
