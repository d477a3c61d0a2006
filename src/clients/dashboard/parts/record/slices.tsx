import { formatCount } from "../../../../base/lib/text/figures.ts";
import { formatChange, formatShare } from "../../../../base/lib/text/percent.ts";
import type { RecordFigures, TrackRecord } from "../../../../base/model/index.ts";
import { rangeText } from "../../text/record-text.ts";

const MINUTES = [5, 15, 60];

/** The record by score and liquidity: medians of flares, each with its control's. */
export function Slices({ record }: { readonly record: TrackRecord }) {
  const parts = [
    {
      title: "By score at the start",
      rows: record.by_score.map((row) => [rangeText(row, "score"), row.figures] as const),
    },
    {
      title: "By liquidity at the start",
      rows: record.by_liquidity.map((row) => [rangeText(row, "usd"), row.figures] as const),
    },
  ];
  return (
    <table class="slices">
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">Which flares</span>
          </th>
          <th scope="col">Flares</th>
          {MINUTES.map((minutes) => (
            <th key={minutes} scope="col">
              {minutes} min
            </th>
          ))}
          <th scope="col">Possible rug</th>
        </tr>
      </thead>
      {parts.filter(isKnown).map(({ title, rows }) => (
        <tbody key={title}>
          <tr>
            <th scope="rowgroup" colSpan={6}>
              {title}
            </th>
          </tr>
          {rows.map(([name, figures]) => (
            <Slice key={name} name={name} figures={figures} />
          ))}
        </tbody>
      ))}
    </table>
  );
}

/** Whether any row has a flare. By liquidity, no row does on an exchange, where it is unknown. */
function isKnown({ rows }: { readonly rows: readonly (readonly [string, RecordFigures])[] }): boolean {
  return rows.some(([, { flares }]) => flares > 0);
}

function Slice({ name, figures }: { readonly name: string; readonly figures: RecordFigures }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{formatCount(figures.flares)}</td>
      {MINUTES.map((minutes) => {
        const after = figures.after.find((one) => one.minutes === minutes);
        return (
          <td key={minutes}>
            <b>{formatChange(after?.median)}</b>
            <small>{formatChange(after?.control.median)}</small>
            <small>n {formatCount(after?.n ?? 0)}</small>
          </td>
        );
      })}
      <td>{formatShare(figures.canary_share)}</td>
    </tr>
  );
}
