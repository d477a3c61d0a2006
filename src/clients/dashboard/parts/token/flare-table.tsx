import { flarePath } from "../../../../base/lib/text/page-path.ts";
import type { FlareRecord } from "../../../../base/model/index.ts";
import { END_TEXTS } from "../../../../base/model/text/end-texts.ts";
import { formatMinutes } from "../../../text/span.ts";
import { isAnonymous } from "../../state/store.ts";
import { zoneName } from "../../text/format.ts";
import { minuteText } from "../../text/state-text.ts";
import { Measured } from "../table/cells.tsx";

interface FlareTableProps {
  /** Newest first. */
  readonly records: readonly FlareRecord[];
  readonly shownId: string | undefined;
  readonly nowMs: number;
  readonly root: string;
}

/** The flares of a token, with what the price did after each. */
export function FlareTable({ records, shownId, nowMs, root }: FlareTableProps) {
  if (records.length === 0) return <p class="empty">No flare of this token is stored.</p>;
  return (
    <div class="table-room">
      <table class="episodes">
        <thead>
          <tr>
            <th scope="col">Start ({zoneName()})</th>
            <th scope="col">Lasted</th>
            <th scope="col">Peak</th>
            <th scope="col">End</th>
            <th scope="col" class="later">
              15 min
            </th>
            <th scope="col" class="later">
              60 min
            </th>
            <th scope="col" class="later" title="The score at its start">
              Score
            </th>
            <th scope="col">How it ended</th>
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <Row
              key={record.flare.id}
              record={record}
              nowMs={nowMs}
              root={root}
              isShown={record.flare.id === shownId}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends Pick<FlareTableProps, "nowMs" | "root"> {
  readonly record: FlareRecord;
  readonly isShown: boolean;
}

function Row({ record: { flare, started, why, cause, outcome }, isShown, nowMs, root }: RowProps) {
  const { id, started_trending_at: startedAt, finished_trending_at: finishedAt } = flare;
  const score = started?.score ?? outcome?.start_score;
  const start = <time dateTime={startedAt}>{minuteText(startedAt, nowMs)}</time>;
  const startMs = Date.parse(startedAt);
  const endMs = finishedAt === null ? nowMs : Date.parse(finishedAt);
  const shown = why ?? undefined;
  return (
    <tr {...(isShown && { "aria-current": "true" as const })}>
      <th scope="row">
        {isAnonymous.value && !isShown ? <a href={`${root}${flarePath(id)}`}>{start}</a> : start}
      </th>
      <td>{formatMinutes(endMs - startMs)}</td>
      <td>
        <Measured pct={outcome?.peak_change} why={shown} />
      </td>
      <td>
        <Measured pct={outcome?.end_change} why={shown} />
      </td>
      <td class="later">
        <Measured pct={outcome?.change_15m} why={shown} startMs={startMs} />
      </td>
      <td class="later">
        <Measured pct={outcome?.change_60m} why={shown} startMs={startMs} />
      </td>
      <td class="later">{score == null ? "–" : score.toFixed(1)}</td>
      <td>{finishedAt === null ? <b>running</b> : cause ? END_TEXTS[cause] : "ended"}</td>
    </tr>
  );
}
