import { countedZ } from "../../../../base/lib/counted-z.ts";
import { cssShare } from "../../../../base/lib/text/percent.ts";
import type { Explanation } from "../../../../base/model/index.ts";

/** The right end of the scale. Hardly a score is higher. */
const MAX_SCORE = 8;

const TERMS = ["buyers", "imbalance", "price", "volume", "flow"] as const;

/** The contribution of each term to the score, and the score at which a flare starts. */
export function WhyBars({ why }: { readonly why: Explanation | undefined }) {
  if (!why) return <span class="why unknown">no reason given</span>;
  const { score, threshold, finish_threshold, terms, text } = why;
  // All flares use the same scale, so that their bars are comparable.
  const pct = (value: number) => cssShare(Math.min(MAX_SCORE, value) / MAX_SCORE);
  let from = 0;
  const parts = terms.map(({ name, weight, z }) => {
    const width = weight * countedZ(z);
    const part = { name, x: from, width };
    from += width;
    return part;
  });
  const label = `score ${score.toFixed(2)}; a flare starts at ${threshold.toFixed(2)} and ends below ${finish_threshold.toFixed(2)}: ${text}`;
  return (
    <span class="why" title={label}>
      <svg role="img" aria-label={label}>
        {parts.map(({ name, x, width }) => (
          <rect key={name} class={`term-${name}`} x={pct(x)} width={pct(width)} y="2" height="8" />
        ))}
        <line class="needed" x1={pct(threshold)} x2={pct(threshold)} y1="0" y2="12" />
      </svg>
      <small aria-hidden="true">{score.toFixed(1)}</small>
    </span>
  );
}

interface WhyLegendProps {
  /** The explanations to which it belongs: it names only their terms. */
  readonly of: readonly (Explanation | undefined)[];
}

export function WhyLegend({ of }: WhyLegendProps) {
  const used = new Set(of.flatMap((why) => why?.terms.map(({ name }) => name) ?? []));
  if (used.size === 0) return null;
  return (
    <div class="legend why-legend" aria-hidden="true">
      Score (0 to {MAX_SCORE}):
      {TERMS.filter((name) => used.has(name)).map((name) => (
        <span key={name}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect class={`term-${name}`} width="10" height="10" />
          </svg>
          {name}
        </span>
      ))}
      <span>| a flare starts here</span>
    </div>
  );
}
