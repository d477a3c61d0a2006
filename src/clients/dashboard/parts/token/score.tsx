import type { Explanation } from "../../../../base/model/index.ts";
import { formatMeasured, withMinus } from "../../text/format.ts";
import { WhyBars, WhyLegend } from "../flare/why-bars.tsx";

/** How the score of a flare comes about, closed until it is asked for. */
export function Score({ why }: { readonly why: Explanation | undefined }) {
  if (!why) return null;
  return (
    <details class="score">
      <summary>How is this scored?</summary>
      <WhyLegend of={[why]} />
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
