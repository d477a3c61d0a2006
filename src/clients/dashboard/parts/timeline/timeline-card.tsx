import { formatUsd } from "../../../../base/lib/text/figures.ts";
import { outcomeText } from "../../../../base/model/text/outcome-text.ts";
import { endReason } from "../../../../base/model/text/reason-text.ts";
import type { FlareLists } from "../../state/group/flare-lists.ts";
import { fateText } from "../../text/fate-text.ts";
import { Change } from "../flare/change.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import type { PlacedBar } from "./bars.tsx";

interface TimelineCardProps {
  readonly placed: PlacedBar;
  readonly view: FlareLists;
  /** Called when the pointer enters the card. */
  readonly keep: () => void;
  /** Called when the pointer leaves the card. */
  readonly leave: () => void;
}

/**
 * Describes a bar's flare, below the timeline, where it covers no bar. Its numbers are current
 * while it flares.
 */
export function TimelineCard({ placed: { bar, box }, view, keep, leave }: TimelineCardProps) {
  const { flare, fate } = bar;
  const current = [...(view.flares?.pro ?? []), ...(view.flares?.free ?? [])].find(
    ({ id }) => id === flare.id,
  );
  const { token, liquidity, recent_price_change } = current ?? flare;
  const outcome = view.outcomes?.[flare.id] ?? bar.outcome;
  const why = view.explanations[flare.id] ?? bar.why;
  return (
    <div
      class="bar-card"
      aria-hidden="true"
      onPointerEnter={keep}
      onPointerLeave={leave}
      style={{
        left: `clamp(0px, ${(100 * box.left).toFixed(2)}%, 100% - var(--card-width))`,
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
          <Change pct={recent_price_change} /> in 5 minutes
          {Number(liquidity) > 0 && `, ${formatUsd(liquidity)} liquidity`}
        </p>
      )}
      {outcome && <p>{outcomeText(outcome, why)}</p>}
      {why && <p class="soft">{bar.endMs === undefined ? why.text : endReason(why.text)}</p>}
    </div>
  );
}
