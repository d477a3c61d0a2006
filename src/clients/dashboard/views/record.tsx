import { formatCount } from "../../../base/lib/text/figures.ts";
import { formatChange, formatShare, withWholeUnits } from "../../../base/lib/text/percent.ts";
import type { RecordFigures, TrackRecord } from "../../../base/model/index.ts";
import { CHOICES, Groups } from "../parts/groups.tsx";
import { Heads, Spreads } from "../parts/record/spreads.tsx";
import { Segments } from "../parts/segments.tsx";
import { RECORD_WINDOWS, type RecordChoice, recordHash } from "../route.ts";
import { market, server } from "../state/store.ts";
import { useRecord } from "../state/use-record.ts";
import { go } from "../state/use-route.ts";
import { formatMoment, zoneName } from "../text/format.ts";
import { type Fact, flareFacts, rangeText, tradeFacts, verdictText } from "../text/record-text.ts";
import "../parts/record/record.css";

const WINDOW_LABELS = { "24h": "24 hours", "7d": "7 days", "30d": "30 days" } as const;

/** Compares prices after flares with prices of the same tokens at other times. */
export function RecordView({ group, window }: RecordChoice) {
  const { record, failure } = useRecord({ group, window });
  const isShown = record?.window === window && record.by_group.some((row) => row.group === group);
  return (
    <article class="record" aria-busy={!isShown && failure === undefined}>
      <h2>Track record</h2>
      <p class="soft">
        What happened to the flares that are over and began at least an hour ago, good or bad.{" "}
        {market.value.origin === "simulated" && (
          <>
            This market is simulated, with built-in pumps, so over many flares its prices rise more often than{" "}
            <a href={new URL("docs/flares#track-record", server.value).href}>real ones</a>.
          </>
        )}
      </p>
      <div class="filters">
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
      </div>
      {failure !== undefined && !isShown && (
        <p class="empty" role="status">
          The record did not load: {failure}.
        </p>
      )}
      {record === undefined ? (
        failure === undefined && <p class="empty">Loading…</p>
      ) : record.all.flares === 0 ? (
        <p class="empty">
          No flare counts in these {WINDOW_LABELS[record.window]}. Each does when it is over, and its start is
          an hour ago.
        </p>
      ) : (
        <Shown record={record} />
      )}
    </article>
  );
}

function Shown({ record }: { readonly record: TrackRecord }) {
  const { all, trades, calibration, first_at, last_at } = record;
  // The sentence begins with the rule, which names the costs.
  const [, costs = "after costs"] = /^[^:]*?, (with [^:]+):/.exec(trades?.text ?? "") ?? [];
  return (
    <>
      {trades && (
        <>
          <h3>Bought at the start, sold at the finish</h3>
          <Facts facts={tradeFacts(trades)} />
          <p>{withWholeUnits(`Of each flare, ${costs}. ${verdictText(trades)}`)}</p>
        </>
      )}
      <p class="soft">
        <b>Other times</b> are other moments of the same tokens, chosen without regard to the price: one in
        every two hours, from 24 hours to 90 minutes before each flare. <b>n</b> is how many are known.
      </p>
      <h3>How flares went</h3>
      <Facts facts={flareFacts(all, trades)} />
      <p class="soft">
        One flare can count in several of these. A{" "}
        <a href={new URL("docs/flares#the-warnings", server.value).href}>warning</a> is a grave one, quick
        sellers, or two others at once.
      </p>
      <h3>Price since the start</h3>
      <Spreads figures={all} />
      <h3>Which flares</h3>
      <p class="soft">The median change, and below it the one at other times.</p>
      <table>
        <Heads names={["Which", "Flares", ...all.after.map(({ minutes }) => `${minutes} min`), "Rugs"]} />
        <Slices
          title="By score at the start"
          rows={record.by_score.map((row) => [rangeText(row, "score"), row.figures])}
        />
        <Slices
          title="By liquidity at the start"
          rows={record.by_liquidity.map((row) => [rangeText(row, "usd"), row.figures])}
        />
      </table>
      {calibration && <Calibration rows={calibration} />}
      <p class="soft">
        {first_at !== null &&
          last_at !== null &&
          `Outcomes that became final from ${formatMoment(first_at)} to ${formatMoment(last_at)} ${zoneName()}. `}
        Prices since the start are without costs. A flare without a trade in the 3 minutes before a moment has
        no price then.
      </p>
    </>
  );
}

function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="record-facts">
      {facts.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b>
            <small>{withWholeUnits(note)}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface SlicesProps {
  readonly title: string;
  readonly rows: readonly (readonly [name: string, figures: RecordFigures])[];
}

/** Medians by a property of the flares. Nothing if no row has a flare, as where it is unknown. */
function Slices({ title, rows }: SlicesProps) {
  if (rows.every(([, { flares }]) => flares === 0)) return null;
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={6}>
          {title}
        </th>
      </tr>
      {rows.map(([name, { flares, after, canary_share }]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{formatCount(flares)}</td>
          {after.map(({ minutes, median, control, n }) => (
            <td key={minutes} title={`n ${n}, other times: n ${control.n}`}>
              <b>{formatChange(median)}</b>
              <small>{formatChange(control.median)}</small>
            </td>
          ))}
          <td>{formatShare(canary_share)}</td>
        </tr>
      ))}
    </tbody>
  );
}

/** Compares what the odds said with what happened. */
function Calibration({ rows }: { readonly rows: NonNullable<TrackRecord["calibration"]> }) {
  const lists = [
    ["Rugged within the hour", rows.rug_60m],
    ["Higher after 15 minutes", rows.up_15m],
    ["Fell 3 % within 15 minutes", rows.fall_15m],
  ] as const;
  const shown = lists.filter(([, list]) => list.length > 0);
  if (shown.length === 0) return null;
  return (
    <>
      <h3>Were the odds right?</h3>
      <table>
        <Heads names={["Event", "Odds", "Happened", "Flares"]} />
        <tbody>
          {shown.map(([what, list]) =>
            list.map(({ from, n, said, observed }) => (
              <tr key={`${what} ${from}`}>
                <th scope="row">{withWholeUnits(what)}</th>
                <td>{formatShare(said, 1)}</td>
                <td>{formatShare(observed, 1)}</td>
                <td>{formatCount(n)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </>
  );
}
