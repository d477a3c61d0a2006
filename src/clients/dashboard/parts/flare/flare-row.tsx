import { Component } from "preact";
import { formatCount, formatUsd } from "../../../../base/lib/text/figures.ts";
import { formatPct, withWholeUnits } from "../../../../base/lib/text/percent.ts";
import { safeText } from "../../../../base/lib/text/safe-text.ts";
import type { AnyFlare, Explanation, Outcome } from "../../../../base/model/index.ts";
import { groupOf, tokenOf } from "../../../../base/model/key-of.ts";
import { END_TEXTS, isHardToSell, sayWarning } from "../../../../base/model/text/end-texts.ts";
import { nameItem, venueOf } from "../../../../base/model/text/item-name.ts";
import { oddsText } from "../../../../base/model/text/odds-text.ts";
import { endReason } from "../../../../base/model/text/reason-text.ts";
import { tokenHash } from "../../route.ts";
import { type PlotCandle, priceAt } from "../../state/candles/plot.ts";
import { CAUSE_MEANINGS } from "../../text/fate-text.ts";
import { formatSpan } from "../../text/span.ts";
import { TokenBell } from "../alerts/bell.tsx";
import { TimeText } from "../time-text.tsx";
import { TokenName } from "../untrusted-text.tsx";
import { Age, Ago } from "./age.tsx";
import { Change } from "./change.tsx";
import { CoursePlot, FlarePlot } from "./flare-plot.tsx";
import { Price } from "./price.tsx";
import { SurgeSentence } from "./surge.tsx";
import { FlareActions } from "./token-actions.tsx";
import { WhyBars } from "./why-bars.tsx";

interface RowProps {
  readonly flare: AnyFlare;
  readonly why: Explanation | undefined;
  readonly isWatched: boolean;
  readonly onWatch: (token: string) => void;
}

interface FlareRowProps extends RowProps {
  readonly candles: readonly PlotCandle[] | undefined;
  readonly closedMs: number;
}

function hasOther<Props>(before: Props, after: Props, names: readonly (keyof Props)[]): boolean {
  return names.some((name) => before[name] !== after[name]);
}

/** One running flare. Rerenders only for its own changes, because events are frequent. */
export class FlareRow extends Component<FlareRowProps> {
  override shouldComponentUpdate(next: FlareRowProps): boolean {
    return hasOther(this.props, next, ["flare", "why", "candles", "isWatched"]);
  }

  override render({ flare, why, candles, closedMs, isWatched, onWatch }: FlareRowProps) {
    const sinceMs = Date.parse(flare.started_trending_at);
    const start = candles && priceAt(candles, sinceMs);
    const sinceStart = start && 100 * (Number(flare.token.price) / start - 1);
    return (
      <tr>
        <TokenCell flare={flare} why={why} isWatched={isWatched} onWatch={onWatch} />
        {groupOf(flare) === "bsc" ? (
          <>
            <td data-label="Hour" class="hour">
              <FlarePlot candles={candles} startMs={sinceMs} closedMs={closedMs} />
            </td>
            <td data-label="Since start" class="since">
              {sinceStart === undefined ? (
                <span
                  title={`The price at its start is not known${closedMs > sinceMs ? "" : " until the minute has closed"}`}
                >
                  –
                </span>
              ) : (
                <span title="Estimated: the price at the start lies between the closes around it">
                  <small>≈</small> <Change pct={sinceStart} />
                </span>
              )}
            </td>
          </>
        ) : (
          <td data-label="Price">
            <Price value={flare.token.price} />
          </td>
        )}
        <td data-label="5 min (before)">
          <Change pct={flare.recent_price_change} />{" "}
          <small class="previous">{`(${formatPct(flare.previous_price_change)})`}</small>
        </td>
        <td data-label="Buys / sells" class="of-trades">
          {/* A single text node: with several, a growing number would move the rest. */}
          <span>{`${formatCount(flare.latest_buy_count)} /\u00a0${formatCount(flare.latest_sell_count)}`}</span>
        </td>
        <td data-label="Liquidity" class="of-liquidity">
          {formatUsd(flare.liquidity)}
        </td>
        <td data-label="Age">
          <Age sinceMs={sinceMs} />
        </td>
        <Reasons flare={flare} why={why} />
      </tr>
    );
  }
}

interface FinishedRowProps extends RowProps {
  readonly outcome: Outcome | undefined;
}

/** One finished flare: how it went, and why it ended. */
export class FinishedRow extends Component<FinishedRowProps> {
  override shouldComponentUpdate(next: FinishedRowProps): boolean {
    return hasOther(this.props, next, ["flare", "why", "outcome", "isWatched"]);
  }

  override render({ flare, why, outcome, isWatched, onWatch }: FinishedRowProps) {
    const startMs = Date.parse(flare.started_trending_at);
    const end = flare.finished_trending_at ?? flare.started_trending_at;
    const cause = outcome?.ended_by ?? why?.finish_cause;
    return (
      <tr>
        <TokenCell flare={flare} why={why} isWatched={isWatched} onWatch={onWatch} />
        <td data-label="Course" class="hour">
          <CoursePlot outcome={outcome} startMs={startMs} endMs={Date.parse(end)} />
        </td>
        {MEASURED.map(([label, field]) => (
          <td key={field} data-label={label} class={field === "peak_change" ? "since" : undefined}>
            <Measured pct={outcome?.[field]} isHard={isHardToSell(why)} />
          </td>
        ))}
        <td class="reasons">
          <span class={`fate ${cause === "canary" ? "canary" : "faded"}`}>
            <b title={cause ? CAUSE_MEANINGS[cause] : undefined}>{cause ? END_TEXTS[cause] : "ended"}</b>{" "}
            <Ago atMs={Date.parse(end)} />, at <TimeText at={end} /> after flaring for{" "}
            {formatSpan(Date.parse(end) - startMs)}
            {outcome?.collapsed_at && ", collapsed"}
          </span>
          <Warning why={why} isFinished />
          {why && <span class="why-sentence soft">{endReason(shownReason(why.text))}</span>}
          <FlareActions flare={flare} />
        </td>
      </tr>
    );
  }
}

/** The columns of a finished flare's price changes. */
const MEASURED = [
  ["Peak", "peak_change"],
  ["End", "end_change"],
  ["After 5 min", "change_5m"],
  ["15 min", "change_15m"],
  ["60 min", "change_60m"],
] as const;

interface MeasuredProps {
  readonly pct: number | null | undefined;
  /** Whether hardly anyone sold at these prices. A rise then is no gain and has no color. */
  readonly isHard: boolean;
}

function Measured({ pct, isHard }: MeasuredProps) {
  if (pct == null) return <span title="Not measured, or not yet">–</span>;
  return isHard && pct > 0 ? (
    <span title="May not be realizable">{formatPct(pct)}</span>
  ) : (
    <Change pct={pct} />
  );
}

/** The token with its chain or, on an exchange, its pair and the exchange. */
function TokenCell({ flare, isWatched, onWatch }: RowProps) {
  const group = groupOf(flare);
  const { name } = flare.token;
  const venue = venueOf(flare, group);
  return (
    <th scope="row" class="token-cell">
      <span class="marks">
        <WatchStar token={flare.token} isWatched={isWatched} onWatch={onWatch} />
        <TokenBell group={group} token={flare.token} />
      </span>
      <TokenName
        symbol={nameItem(flare) ?? ""}
        name={name}
        href={tokenHash(group, tokenOf(flare))}
        tag={venue && safeText(venue)}
      />
    </th>
  );
}

/** The warnings in full, in the row's widest cell. */
function Warning({ why, isFinished = false }: Pick<RowProps, "why"> & { readonly isFinished?: boolean }) {
  const warning = why?.warnings.map(sayWarning).join(", ");
  const sold = isFinished && isHardToSell(why) ? "; these prices may not be realizable" : "";
  return warning ? <span class="warned">{`⚠ ${warning}${sold}`}</span> : null;
}

/** Removes the warning at the end of the sentence, because all warnings are shown next to it. */
function shownReason(sentence: string): string {
  return withWholeUnits(sentence.replace(/; warnings?: [^;]*$/, ""));
}

function Reasons({ flare, why }: Pick<RowProps, "flare" | "why">) {
  return (
    <td data-label="Why" class="reasons">
      <WhyBars why={why} />
      <Warning why={why} />
      {why && (
        <span class="why-sentence">
          <SurgeSentence why={why} />
          {shownReason(why.text)}
        </span>
      )}
      {why && <OddsSentence odds={why.odds} />}
      <FlareActions flare={flare} />
    </td>
  );
}

/** How flares like this one went. */
function OddsSentence({ odds }: { readonly odds: Explanation["odds"] }) {
  const text = oddsText(odds);
  return text === "" ? null : <span class="why-sentence soft">{withWholeUnits(text)}</span>;
}

interface WatchStarProps {
  readonly token: Parameters<typeof tokenOf>[0]["token"];
  readonly isWatched: boolean;
  readonly onWatch: (token: string) => void;
}

/** Puts a token on the watch list, or takes it off. */
export function WatchStar({ token, isWatched, onWatch }: WatchStarProps) {
  return (
    <button
      type="button"
      class="star"
      aria-pressed={isWatched}
      aria-label={`Watch ${safeText(token.symbol)}`}
      onClick={() => onWatch(tokenOf({ token }))}
    >
      {isWatched ? "★" : "☆"}
    </button>
  );
}
