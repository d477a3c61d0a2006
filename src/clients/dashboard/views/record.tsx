import { formatCount } from "../../../base/lib/text/figures.ts";
import { formatShare, withWholeUnits } from "../../../base/lib/text/percent.ts";
import type { RecordFigures, TrackRecord } from "../../../base/model/index.ts";
import { CHOICES, Groups } from "../parts/groups.tsx";
import { Slices } from "../parts/record/slices.tsx";
import { Spreads } from "../parts/record/spreads.tsx";
import { Segments } from "../parts/segments.tsx";
import { RECORD_WINDOWS, type RecordChoice, recordHash } from "../route.ts";
import { useRecord } from "../state/record/use-record.ts";
import type { Go } from "../state/use-route.ts";
import { leftOutText, momentText, verdictText, warningText } from "../text/record-text.ts";
import "../parts/record/record.css";

const WINDOW_LABELS = { "24h": "24 hours", "7d": "7 days", "30d": "30 days" } as const;

export interface RecordViewProps extends RecordChoice {
  readonly go: Go;
  readonly server: URL;
  readonly apiKey: string | undefined;
  readonly isSimulated: boolean;
}

/** Compares prices after flares with prices after other moments of the same tokens. */
export function RecordView({ group, window, go, server, apiKey, isSimulated }: RecordViewProps) {
  const { record, failure } = useRecord(server, apiKey, { group, window });
  const isShown = record?.window === window && record.by_group.some((row) => row.group === group);
  const leftOut = record === undefined ? "" : leftOutText(record.all, 15);
  return (
    <article class="record" aria-busy={!isShown && failure === undefined}>
      <h2>Track record</h2>
      <p class="legend">
        What prices did after flares, good or bad. The control is what the same tokens did after other
        moments: one in every two hours, from 24 hours to 90 minutes before each flare, at minutes that do not
        depend on the price. Only flares that are over and began at least 60 minutes ago count: their outcomes
        are final.
      </p>
      {isSimulated && (
        <p class="legend">
          This market is simulated, with built-in pumps, so its prices rise after most flares. Real prices do{" "}
          <a href={new URL("docs/flares#track-record", server).href}>not</a>.
        </p>
      )}
      <Groups
        options={CHOICES}
        chosen={group}
        onChoose={(name) => go(recordHash({ group: name, window }), "push")}
      />
      <Segments
        legend="Window"
        name="record-window"
        options={RECORD_WINDOWS}
        chosen={window}
        onChoose={(name) => go(recordHash({ group, window: name }), "push")}
        label={(name) => WINDOW_LABELS[name]}
      />
      {failure !== undefined && (
        <p class="empty" role="status">
          The record did not load: {failure}.
        </p>
      )}
      {record === undefined ? (
        failure === undefined && <p class="empty">Loading…</p>
      ) : record.all.flares === 0 ? (
        <p class="empty">No flare has a final outcome in these {WINDOW_LABELS[record.window]}.</p>
      ) : (
        <>
          {record.trades && <p class="verdict">{withWholeUnits(record.trades.text)}</p>}
          <p class="verdict">
            {withWholeUnits(verdictText(record.all, 15))} {leftOut !== "" && <b>{leftOut}</b>}
          </p>
          <Facts figures={record.all} />
          {record.all.collapsed > 0 && (
            <p class="soft">
              Warned: before it collapsed, the token was a possible rug, because of a grave warning, quick
              sellers, or two other <a href={new URL("docs/flares#the-warnings", server).href}>warnings</a> at
              once.
            </p>
          )}
          <h3>Price change since the start</h3>
          <Spreads figures={record.all} />
          <h3>Which flares</h3>
          <p class="soft">
            The median change of the flares, in gray that of their control, and the number of flares whose
            change is known (n); the others are left out. Possible rug: the share that a warning ended.
          </p>
          <Slices record={record} />
          <Calibration rows={record.calibration} />
          <p class="soft">
            Outcomes that became final from {momentText(record.first_at ?? "")} to{" "}
            {momentText(record.last_at ?? "")} UTC. Except for the first row, without fees and slippage, which
            are large where liquidity is thin. “<i>n</i> of <i>m</i>” means that the change is known for{" "}
            <i>n</i> of <i>m</i> flares. The others are left out: they had no trade in the 3 minutes before
            that time, and so no price. Some traded again later. A flare that is left out may have lost
            everything.
          </p>
        </>
      )}
    </article>
  );
}

/** Compares what the odds said with what happened. */
function Calibration({ rows }: { readonly rows: TrackRecord["calibration"] }) {
  const lists = [
    ["rugged within the hour", rows?.rug_60m ?? []],
    ["higher after 15 minutes", rows?.up_15m ?? []],
    ["fell 3 % within 15 minutes", rows?.fall_15m ?? []],
  ] as const;
  if (lists.every(([, list]) => list.length === 0)) return null;
  return (
    <>
      <h3>Were the odds right?</h3>
      <ul class="soft">
        {lists.map(([what, list]) =>
          list.map(({ from, n, said, observed }) => (
            <li key={`${what} ${from}`}>
              {withWholeUnits(
                `${what}: said ${formatShare(said, 1)}, observed ${formatShare(observed, 1)} (n ${formatCount(n)})`,
              )}
            </li>
          )),
        )}
      </ul>
    </>
  );
}

function Facts({ figures }: { readonly figures: RecordFigures }) {
  const { flares, ended_by_canary, canary_share, collapsed, warned } = figures;
  const lost = collapsed === 0 ? "none lost half of its peak" : "lost half of their peak or more";
  const facts: readonly (readonly [name: string, value: string, note?: string])[] = [
    ["Flares", formatCount(flares)],
    ["Possible rugs", formatShare(canary_share), `${formatCount(ended_by_canary)} flares`],
    ["Collapsed", formatCount(collapsed), lost],
    [
      "Warned before they collapsed",
      formatShare(collapsed === 0 ? null : warned / collapsed),
      warningText(figures),
    ],
  ];
  return (
    <dl class="record-facts">
      {facts.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b>
            {note !== undefined && <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
