import type { View } from "../../../client/index.ts";
import { outcomeText } from "../../../model/text/outcome-text.ts";
import { fateText } from "../../text/fate-text.ts";
import { formatUsd } from "../../text/format.ts";
import { Change } from "../flare/change.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import type { PlacedBar } from "./bars.tsx";

interface TimelineCardProps {
  readonly placed: PlacedBar;
  readonly lanes: number;
  readonly view: View;
}

/** What a bar of the timeline stands for, below it. Its numbers are current while it flares. */
export function TimelineCard({ placed: { bar, box }, lanes, view }: TimelineCardProps) {
  const { flare, fate } = bar;
  const current = [...(view.flares?.pro ?? []), ...(view.flares?.free ?? [])].find(
    ({ id }) => id === flare.id,
  );
  const { token, liquidity, recent_price_change } = current ?? flare;
  const outcome = view.outcomes?.[flare.id] ?? bar.outcome;
  const why = view.explanations[flare.id]?.text ?? bar.why;
  return (
    <div
      class="bar-card"
      aria-hidden="true"
      style={{
        left: `clamp(0px, ${(100 * box.left).toFixed(2)}%, 100% - var(--card-width))`,
        top: `calc(${(100 * (box.top + 1 / lanes)).toFixed(2)}% + 4px)`,
      }}
    >
      <p class="bar-card-head">
        <strong>
          <UntrustedText text={token.symbol} />
        </strong>
        <small>
          <UntrustedText text={token.name} />
        </small>
      </p>
      <p class={`fate ${fate}`}>{fateText(bar)}</p>
      {current && (
        <p>
          <Change pct={recent_price_change} /> in 5 minutes, {formatUsd(liquidity)} liquidity
        </p>
      )}
      {outcome && <p>{outcomeText(outcome)}</p>}
      {why && <p class="soft">{why}</p>}
    </div>
  );
}
