import { formatCount } from "../../../../base/lib/text/figures.ts";
import { formatChange, formatShare } from "../../../../base/lib/text/percent.ts";
import type { RecordFigures } from "../../../../base/model/index.ts";
import { leftOutText, scaleOf } from "../../text/record-text.ts";

type Spread = RecordFigures["after"][number]["control"];

/** The heads of a table of the record. */
export function Heads({ names }: { readonly names: readonly string[] }) {
  return (
    <thead>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/**
 * Compares the price changes after flares with the changes at other times, in a table with a
 * picture on one scale.
 */
export function Spreads({ figures }: { readonly figures: RecordFigures }) {
  const positionOf = scaleOf(figures);
  return (
    <table class="spreads">
      <Heads names={["Moments", "Spread", "Median", "Half are within", "Rose"]} />
      {figures.after.map(({ control, minutes, unknown, ...flares }) => (
        <tbody key={minutes}>
          <tr>
            <th scope="rowgroup" colSpan={5}>
              After {minutes} minutes <small class="left-out">{leftOutText(unknown, figures.flares)}</small>
            </th>
          </tr>
          <Row name="Flares" spread={flares} positionOf={positionOf} />
          <Row name="Other times" spread={control} positionOf={positionOf} />
        </tbody>
      ))}
    </table>
  );
}

interface RowProps {
  readonly name: "Flares" | "Other times";
  readonly spread: Spread;
  readonly positionOf: (percent: number) => number;
}

/** In the picture, the box is from the first to the third quartile, with a stroke at the median. */
function Row({ name, spread: { n, rose, q1, median, q3 }, positionOf }: RowProps) {
  const isKnown = q1 !== null && median !== null && q3 !== null;
  return (
    <tr class={name === "Flares" ? "of-flares" : "of-control"}>
      <th scope="row">
        {name} <small>n {formatCount(n)}</small>
      </th>
      <td>
        <svg viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
          <path d={`M${positionOf(0)} 0V24`} />
          {isKnown && (
            <>
              <rect
                x={positionOf(q1)}
                y="5"
                width={Math.max(positionOf(q3) - positionOf(q1), 0.4)}
                height="14"
              />
              <path class="median" d={`M${positionOf(median)} 2V22`} />
            </>
          )}
        </svg>
      </td>
      <td>
        <b>{formatChange(median)}</b>
      </td>
      <td>{isKnown ? `${formatChange(q1)} to ${formatChange(q3)}` : "–"}</td>
      <td>{formatShare(rose)}</td>
    </tr>
  );
}
