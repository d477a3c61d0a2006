import { countedZ } from "../../../../base/lib/counted-z.ts";
import { cssShare } from "../../../../base/lib/text/percent.ts";
import type { Explanation } from "../../../../base/model/index.ts";
import { formatMeasured, withMinus } from "../../text/state-text.ts";

/** The right end of the scale. Hardly a score is higher. */
const MAX_SCORE = 8;

/** How the score of a flare comes about, closed until it is asked for. */
export function Score({ why }: { readonly why: Explanation | undefined }) {
  if (!why) return null;
  return (
    <details class="score">
      <summary>How is this scored?</summary>
      <WhyLegend why={why} />
      <WhyBars why={why} />
      <table class="terms">
        <thead>
          <tr>
            <th scope="col">Term</th>
            <th scope="col">Measured</th>
            <th scope="col">Deviations above normal</th>
            <th scope="col">Weight</th>
          </tr>
        </thead>
        <tbody>
          {why.terms.map((term) => {
            const [value, unit] = formatMeasured(term);
            return (
              <tr key={term.name}>
                <th scope="row">{term.name}</th>
                <td>
                  {value} <small>{unit}</small>
                </td>
                <td>{withMinus(term.z.toFixed(2))}</td>
                <td>{term.weight.toFixed(2)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <small class="soft">
        The score is the sum of each term's deviations times its weight. A term counts as at least 0, and
        above 5 deviations ever more slowly.
      </small>
    </details>
  );
}

/** The contribution of each term to the score, and the score at which a flare starts. */
function WhyBars({ why }: { readonly why: Explanation }) {
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
          <rect key={name} fill={`var(--term-${name})`} x={pct(x)} width={pct(width)} y="2" height="8" />
        ))}
        <line class="needed" x1={pct(threshold)} x2={pct(threshold)} y1="0" y2="12" />
      </svg>
      <small aria-hidden="true">{score.toFixed(1)}</small>
    </span>
  );
}

function WhyLegend({ why }: { readonly why: Explanation }) {
  return (
    <div class="legend why-legend" aria-hidden="true">
      Score (0 to {MAX_SCORE}):
      {why.terms.map(({ name }) => (
        <span key={name}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect fill={`var(--term-${name})`} width="10" height="10" />
          </svg>
          {name}
        </span>
      ))}
      <span>| a flare starts here</span>
    </div>
  );
}
