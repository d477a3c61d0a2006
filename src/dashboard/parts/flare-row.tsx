import { Component } from "preact";
import { formatPct } from "../../lib/format-pct.ts";
import { safeText } from "../../lib/safe-text.ts";
import type { Explanation, Flare } from "../../model/index.ts";
import { formatSpan, formatUsd } from "../format.ts";
import { Sparkline } from "./sparkline.tsx";
import { TokenName } from "./stranger.tsx";
import { WhyBars } from "./why-bars.tsx";

interface FlareRowProps {
  readonly flare: Flare;
  readonly why: Explanation | undefined;
  readonly spark: readonly number[] | undefined;
  /** Event time in seconds. */
  readonly nowS: number;
}

/** One flare. Painted anew only when something of its own changed: twenty events a second must not cost two hundred rows each. */
export class FlareRow extends Component<FlareRowProps> {
  override shouldComponentUpdate(next: FlareRowProps): boolean {
    const { flare, why, spark, nowS } = this.props;
    // The age of what is over stands still.
    const ages = next.nowS !== nowS && next.flare.finished_trending_at === null;
    return ages || next.flare !== flare || next.why !== why || next.spark !== spark;
  }

  override render({ flare, why, spark, nowS }: FlareRowProps) {
    const { token, recent_price_change: recent, previous_price_change: previous } = flare;
    const warning = why?.warnings.map(safeText).join(", ");
    const untilMs = flare.finished_trending_at ? Date.parse(flare.finished_trending_at) : nowS * 1_000;
    return (
      <tr>
        <th scope="row">
          <TokenName symbol={token.symbol} name={token.name} address={token.address} warning={warning} />
        </th>
        <td data-label="Hour">
          <Sparkline values={spark} />
        </td>
        <td data-label={flare.finished_trending_at ? "Ran for" : "Age"}>
          {formatSpan(untilMs - Date.parse(flare.started_trending_at))}
        </td>
        <td data-label="5 min (before)">
          <b class={recent >= 0 ? "up" : "down"}>{formatPct(recent)}</b>{" "}
          <small>({formatPct(previous)})</small>
        </td>
        <td data-label="Buys / sells">
          <span>
            {flare.latest_buy_count} / {flare.latest_sell_count}
          </span>
        </td>
        <td data-label="Liquidity">{formatUsd(flare.liquidity)}</td>
        <td data-label="Why">
          <WhyBars why={why} />
        </td>
      </tr>
    );
  }
}
