import type { View } from "../../client/index.ts";
import { formatPct } from "../../lib/format-pct.ts";
import type { ChartItem } from "../../model/index.ts";
import { formatPrice } from "../format.ts";
import { GROUP_LABELS, GROUP_NAMES } from "../group-labels.ts";
import { Sparkline } from "../parts/sparkline.tsx";
import { TokenName } from "../parts/stranger.tsx";

/** By group the ten that rise best, each minute. */
export function ChartsView({ view }: { readonly view: View }) {
  return (
    <div class="groups">
      {GROUP_NAMES.map((group) => (
        <section key={group} aria-labelledby={`chart-${group}`}>
          <h2 id={`chart-${group}`}>{GROUP_LABELS[group]}</h2>
          <Chart items={view.charts?.[group] ?? []} />
        </section>
      ))}
    </div>
  );
}

function Chart({ items }: { readonly items: readonly ChartItem[] }) {
  if (items.length === 0) return <p class="empty">The chart is empty.</p>;
  return (
    <ol class="ranks">
      {items.map((item) => {
        const token = "flare" in item ? item.flare.token : item.token;
        const price = "most_recent_price" in item ? item.most_recent_price : token.price;
        const change = item.price_change_from_average;
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
            <b class={change >= 0 ? "up" : "down"}>{formatPct(change, 1)}</b>
            <span class="price">{formatPrice(price)}</span>
            <small>{item.streak} min</small>
          </li>
        );
      })}
    </ol>
  );
}
