import { formatCount } from "../../../../base/lib/text/figures.ts";
import { formatChange, formatShare } from "../../../../base/lib/text/percent.ts";
import type { RecordFigures } from "../../../../base/model/index.ts";
import { type Scale, scaleOf } from "../../state/record/scale.ts";
import { withMinus } from "../../text/format.ts";
import { leftOutText } from "../../text/record-text.ts";

type Spread = RecordFigures["after"][number]["control"];

/**
 * Compares the price changes of flares with those at other times, in a table with a picture on one
 * scale.
 */
export function Spreads({ figures }: { readonly figures: RecordFigures }) {
  const scale = scaleOf(figures);
  return (
    <table class="spreads">
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">Moments</span>
          </th>
          <th scope="col" class="picture">
            {scale && <Axis scale={scale} />}
            <span class="unseen">Picture</span>
          </th>
          <th scope="col">Median</th>
          <th scope="col" class="half">
            Half are within
          </th>
          <th scope="col">Rose</th>
        </tr>
      </thead>
      {figures.after.map(({ control, minutes, unknown, ...flares }) => (
        <tbody key={minutes}>
          <tr>
            <th scope="rowgroup" colSpan={5}>
              After {minutes} minutes <small class="left-out">{leftOutText(unknown, figures.flares)}</small>
            </th>
          </tr>
          <Row name="Flares" spread={flares} scale={scale} />
          <Row name="Other times" spread={control} scale={scale} />
        </tbody>
      ))}
    </table>
  );
}

/** Labels the ticks. A narrow screen has room for every second label, counted from zero. */
function Axis({ scale: { ticks, positionOf } }: { readonly scale: Scale }) {
  const zero = ticks.indexOf(0);
  return (
    <span class="axis" aria-hidden="true">
      {ticks.map((tick, at) => (
        <small
          key={tick}
          class={(at - zero) % 2 === 0 ? undefined : "between"}
          style={{ left: `${positionOf(tick)}%` }}
        >
          {tick > 0 ? "+" : ""}
          {withMinus(String(Number(tick.toPrecision(3))))} %
        </small>
      ))}
    </span>
  );
}

interface RowProps {
  readonly name: "Flares" | "Other times";
  readonly spread: Spread;
  readonly scale: Scale | undefined;
}

function Row({ name, spread, scale }: RowProps) {
  const { n, rose, q1, median, q3 } = spread;
  return (
    <tr class={name === "Flares" ? "of-flares" : "of-control"}>
      <th scope="row">
        {name} <small>n {formatCount(n)}</small>
      </th>
      <td class="picture">{scale && <Picture spread={spread} scale={scale} />}</td>
      <td>
        <b>{formatChange(median)}</b>
      </td>
      <td class="half">{q1 === null || q3 === null ? "–" : `${formatChange(q1)} to ${formatChange(q3)}`}</td>
      <td>{formatShare(rose)}</td>
    </tr>
  );
}

/** A box from the first to the third quartile, with a stroke at the median. */
function Picture({
  spread: { q1, median, q3 },
  scale: { ticks, positionOf },
}: {
  readonly spread: Spread;
  readonly scale: Scale;
}) {
  const [from, to] = [positionOf(q1 ?? 0), positionOf(q3 ?? 0)];
  const at = median === null ? undefined : positionOf(median);
  return (
    <svg viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      {ticks.map((tick) => (
        <path key={tick} class={tick === 0 ? "zero" : "tick"} d={`M${positionOf(tick)} 0V24`} />
      ))}
      {at !== undefined && (
        <>
          <rect x={from} y="5" width={Math.max(to - from, 0.4)} height="14" />
          <path class="median" d={`M${at} 2V22`} />
        </>
      )}
    </svg>
  );
}
