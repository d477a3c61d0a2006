import { Component } from "preact";
import { formatPct } from "../../../lib/text/format-pct.ts";
import type { Explanation, Flare } from "../../../model/index.ts";
import { formatCount, formatSpan, formatUsd } from "../../text/format.ts";
import { sayWarning, TokenName } from "../untrusted-text.tsx";
import { Age } from "./age.tsx";
import { Change } from "./change.tsx";
import { Sparkline } from "./sparkline.tsx";
import { WhyBars } from "./why-bars.tsx";

interface FlareRowProps {
  readonly flare: Flare;
  readonly why: Explanation | undefined;
  readonly spark: readonly number[] | undefined;
}

/** One flare. Rerenders only for its own changes, because events are frequent. */
export class FlareRow extends Component<FlareRowProps> {
  override shouldComponentUpdate(next: FlareRowProps): boolean {
    const { flare, why, spark } = this.props;
    return next.flare !== flare || next.why !== why || next.spark !== spark;
  }

  override render({ flare, why, spark }: FlareRowProps) {
    const { token, started_trending_at: started, finished_trending_at: finished } = flare;
    const warning = why?.warnings.map(sayWarning).join(", ");
    const sinceMs = Date.parse(started);
    return (
      <tr>
        <th scope="row">
          <TokenName symbol={token.symbol} name={token.name} address={token.address} warning={warning} />
        </th>
        <td data-label="Hour" class="hour">
          {spark ? <Sparkline values={spark} /> : <small>not charted</small>}
        </td>
        <td data-label={finished ? "Ran for" : "Age"}>
          {finished ? formatSpan(Date.parse(finished) - sinceMs) : <Age sinceMs={sinceMs} />}
        </td>
        <td data-label="5 min (before)">
          <Change pct={flare.recent_price_change} />{" "}
          <small class="previous">{`(${formatPct(flare.previous_price_change)})`}</small>
        </td>
        <td data-label="Buys / sells">
          {/* A single text node: with several, a growing number would move the rest. */}
          <span>{`${formatCount(flare.latest_buy_count)} /\u00a0${formatCount(flare.latest_sell_count)}`}</span>
        </td>
        <td data-label="Liquidity">{formatUsd(flare.liquidity)}</td>
        <td data-label="Why" class="reasons">
          <WhyBars why={why} />
        </td>
      </tr>
    );
  }
}
