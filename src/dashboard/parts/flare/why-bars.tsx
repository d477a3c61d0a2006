import type { Explanation } from "../../../model/index.ts";

/** A term's measurement counts up to this many deviations, and the weights sum to 1: no score is higher. */
const MAX_SCORE = 6;

/** The terms of a score, in the order of the colours. */
export const TERMS = ["buyers", "imbalance", "price", "volume"] as const;

/** Why a flare fires: what each term adds to the score, against the score that had to be passed. */
export function WhyBars({ why }: { readonly why: Explanation | undefined }) {
  if (!why) return <span class="why unknown">no reason given</span>;
  const { score, threshold, terms } = why;
  // One scale for all flares, so that their bars can be compared.
  const pct = (value: number) => `${((100 * Math.min(MAX_SCORE, value)) / MAX_SCORE).toFixed(2)}%`;
  let from = 0;
  const parts = terms.map(({ name, weight, z }) => {
    const width = weight * Math.min(MAX_SCORE, Math.max(0, z));
    const part = { name, x: from, width };
    from += width;
    return part;
  });
  const text = terms
    .map(({ name, z, weight }) => `${name} ${z.toFixed(1)} × ${weight.toFixed(2)}`)
    .join(", ");
  return (
    <span class="why" title={`score ${score.toFixed(2)}, needed ${threshold.toFixed(2)}: ${text}`}>
      <svg role="img" aria-label={`score ${score.toFixed(2)} of ${threshold.toFixed(2)} needed: ${text}`}>
        {parts.map(({ name, x, width }) => (
          <rect key={name} class={`term-${name}`} x={pct(x)} width={pct(width)} y="2" height="8" />
        ))}
        <line class="needed" x1={pct(threshold)} x2={pct(threshold)} y1="0" y2="12" />
      </svg>
      <small aria-hidden="true">{score.toFixed(1)}</small>
    </span>
  );
}

/** What the colours of {@link WhyBars} mean. */
export function WhyLegend() {
  return (
    <p class="legend" aria-hidden="true">
      Why:
      {TERMS.map((name) => (
        <span key={name}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect class={`term-${name}`} width="10" height="10" />
          </svg>
          {name}
        </span>
      ))}
      <span>| the score it had to pass, of {MAX_SCORE}</span>
    </p>
  );
}
