import type { ComponentChildren } from "preact";
import { formatUsd } from "../../../../base/lib/text/figures.ts";
import { formatChange } from "../../../../base/lib/text/percent.ts";
import { safeText } from "../../../../base/lib/text/safe-text.ts";
import { MINUTE_MS, startOf } from "../../../../base/lib/time/time.ts";
import { GROUP_FACTS } from "../../../../base/model/groups.ts";
import type { Explanation, FlareRecord, TokenDetails } from "../../../../base/model/index.ts";
import { END_TEXTS, isHardToSell, sayWarning } from "../../../../base/model/text/end-texts.ts";
import { oddsText } from "../../../../base/model/text/odds-text.ts";
import { endReason } from "../../../../base/model/text/reason-text.ts";
import { formatMinutes } from "../../../text/span.ts";
import { pointsOfChart, priceAt } from "../../state/candles/plot.ts";
import { barsWithin, type RangeName, spanOfFlare, spanOfRange } from "../../state/candles/ranges.ts";
import { isPast, priceLabel } from "../../state/store.ts";
import { zoneName } from "../../text/format.ts";
import { sourceText } from "../../text/source-text.ts";
import { capitalized, lockText, minuteText, stateText } from "../../text/state-text.ts";
import { Price } from "../flare/price.tsx";
import { RunningReason } from "../flare/surge.tsx";
import { LACKING } from "../groups.tsx";
import { Outward, UntrustedText } from "../untrusted-text.tsx";
import { marksOf } from "./chart-layout.ts";
import { FlareTable } from "./flare-table.tsx";
import { Score } from "./score.tsx";
import { TokenChart } from "./token-chart.tsx";

export interface TokenPageProps {
  /** What the server knows; `flares` includes the page's flare. */
  readonly details: TokenDetails;
  /** The flare that the page is about. Default: the latest. */
  readonly flareId?: string | undefined;
  readonly nowMs: number;
  /** Default: around the flare, if its candles are known. */
  readonly range?: RangeName | undefined;
  /** The heading of the page. Within the dashboard, it is below that of the dashboard. */
  readonly level: 1 | 2;
  /** Relative URL of the server's root. */
  readonly root: string;
  readonly market?: string | undefined;
  /** The choice of the range. */
  readonly ranges?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** Why flares may be missing. */
  readonly problem?: string | undefined;
}

/** The page of a token, or of one of its flares, rendered by the server and by the dashboard. */
export function TokenPage({ details, flareId, nowMs, level, root, ...parts }: TokenPageProps) {
  const { group, symbol, name, address, flares, price, price_at = null } = details;
  const record = flares.find(({ flare }) => flare.id === flareId) ?? flares[0];
  const running = flares.find(({ cause, flare }) => cause === null && flare.finished_trending_at === null);
  const why = record?.why ?? undefined;
  const change = changeSince(record, details);
  const [Title, Sub] = level === 1 ? (["h1", "h2"] as const) : (["h2", "h3"] as const);
  const market = record && "pair" in record.flare ? record.flare : undefined;
  return (
    <article class={`token-page ${LACKING[group]}${isPast.value ? " old" : ""}`}>
      <div class="title">
        <Fate record={record} isPast={isPast.value} />
        {parts.market !== undefined && <span class="market">{parts.market}</span>}
        <Title>
          <UntrustedText text={market ? (market.pair ?? symbol) : symbol} />{" "}
          {name !== null && name !== "" && (
            <small>
              <UntrustedText text={name} />
            </small>
          )}
        </Title>
        <p class="now-price">
          <Price value={price} />{" "}
          {change !== undefined && (
            <span class={lookOf(change, record)}>
              {formatChange(change)}
              <small> since the start</small>
            </span>
          )}
          {price_at !== null && (
            <small>
              {" "}
              at <time dateTime={price_at}>{minuteText(price_at, nowMs)}</time> {zoneName()}
            </small>
          )}
        </p>
      </div>
      <p class="links">
        <span class="tag">{market?.exchange ? safeText(market.exchange) : GROUP_FACTS[group].label}</span>
        {address !== null ? <code>{address}</code> : market?.pair && <code>{safeText(market.pair)}</code>}
        <span class="token-actions">{parts.actions}</span>
        <Outward href={details.social_data?.website_url} label="Site" />
        <Outward href={details.social_data?.chat_url} label="Chat" />
        <Outward href={details.social_data?.microblog_url} label="Posts" />
      </p>
      <section class="prices" aria-labelledby="prices-title">
        <div class="plot-head">
          <Sub id="prices-title">Price</Sub>
          {parts.ranges}
        </div>
        <Chart details={details} record={record} range={parts.range} nowMs={nowMs} />
      </section>
      <aside class="rail" aria-label="State and facts">
        <p class="state">
          {record ? stateText(record, change, price_at, nowMs) : "No flare of it is stored."}
        </p>
        {record && (
          <p class="why-text">{record === running ? <RunningReason why={why} /> : pastReason(record)}</p>
        )}
        <dl class="facts">
          <dt>{priceLabel.value}</dt>
          <dd>
            <Price value={price} />
          </dd>
          <dt class="of-liquidity">Liquidity</dt>
          <dd class="of-liquidity">
            {formatUsd(details.liquidity ?? "0")} <small>{lockText(why?.locked ?? null, nowMs)}</small>
          </dd>
          {details.contract_source !== null && (
            <>
              <dt class="of-profiles">Source code</dt>
              <dd class="of-profiles">{sourceText(details.contract_source, why)}</dd>
            </>
          )}
          <dt>Warnings</dt>
          <dd>
            <Warnings
              why={why}
              isRunning={record !== undefined && record === running}
              hasCanary={record === flares[0] ? (details.canary ?? undefined) : undefined}
              cause={record?.cause ?? undefined}
              flareName={record === flares[0] ? "its last flare" : "this flare"}
            />
          </dd>
          {details.created_at !== null && (
            <>
              <dt>Created</dt>
              <dd>{formatMinutes(nowMs - Date.parse(details.created_at))} ago</dd>
            </>
          )}
          {details.as_of !== null && (
            <>
              <dt>Facts as of</dt>
              <dd>
                {minuteText(details.as_of, nowMs)} {zoneName()}
              </dd>
            </>
          )}
        </dl>
        {why?.odds && <p class="odds">{capitalized(oddsText(why.odds))}.</p>}
        <Score why={why} />
      </aside>
      <section class="past" aria-labelledby="past-title">
        <Sub id="past-title">Its flares</Sub>
        {parts.problem !== undefined && (
          <p role="status">Some may be missing, because the stored flares did not load: {parts.problem}.</p>
        )}
        <FlareTable records={flares} shownId={flareId} nowMs={nowMs} root={root} />
      </section>
    </article>
  );
}

/** Returns why an ended flare started or, if that is not stored, the reason at its end. */
function pastReason({ started, why }: FlareRecord): string {
  return started ? capitalized(started.text) : why ? endReason(why.text) : "";
}

/** Returns the change from the flare's start to the last known price, in percent. */
function changeSince(record: FlareRecord | undefined, { candles, price }: TokenDetails): number | undefined {
  if (!record) return undefined;
  const startMs = Date.parse(record.flare.started_trending_at);
  const start = Number(record.outcome?.start_price ?? 0) || priceAt(candles, startMs);
  const now = Number(price);
  return start !== undefined && start > 0 && now > 0 ? 100 * (now / start - 1) : undefined;
}

/** Without color after a flare in which hardly anyone could sell: its prices are no gains. */
function lookOf(change: number, record: FlareRecord | undefined): string {
  if (isHardToSell(record?.why) || formatChange(change).startsWith("±")) return "change";
  return change > 0 ? "change up" : "change down";
}

interface FateProps {
  readonly record: FlareRecord | undefined;
  /** Whether the shown data is old: what flared then may have ended. */
  readonly isPast: boolean;
}

function Fate({ record, isPast }: FateProps) {
  if (!record) return null;
  const { cause, flare } = record;
  const isRunning = flare.finished_trending_at === null;
  const look = isRunning ? "flaring" : cause === "canary" ? "canary" : "faded";
  const text = isRunning
    ? isPast
      ? "Flaring when last seen"
      : "Flaring now"
    : capitalized(END_TEXTS[cause ?? "upstream"]);
  return <span class={`pill ${look}`}>{text}</span>;
}

interface ChartProps extends Pick<TokenPageProps, "details" | "range" | "nowMs"> {
  readonly record: FlareRecord | undefined;
}

/** The candles of the range or of the flare. Without candles, the prices of the group's chart. */
function Chart({ details: { group, candles, chart, flares, price }, record, range, nowMs }: ChartProps) {
  const endMs = startOf(MINUTE_MS, nowMs);
  const bands = flares.map(({ flare: { started_trending_at: start, finished_trending_at: end } }) => ({
    startMs: Date.parse(start),
    endMs: end === null ? undefined : Date.parse(end),
  }));
  const shown = bands.find(({ startMs }) => startMs === Date.parse(record?.flare.started_trending_at ?? ""));
  const span = range === undefined && shown ? spanOfFlare(shown, endMs) : spanOfRange(range ?? "1h", endMs);
  const all = barsWithin(candles, span);
  // One candle alone shows no course.
  const bars = all.filter(({ close }) => close !== null).length > 1 ? all : [];
  const points =
    bars.length === 0 && chart
      ? pointsOfChart(chart.most_recent_price_average, chart.latest_candle_prices, endMs)
      : [];
  if (bars.length + points.length < 2)
    return (
      <p class="token-chart none">
        {group === "bsc" ? "No prices of this time are stored." : "Prices are stored for BSC only."}
      </p>
    );
  const hour = { fromMs: endMs - 60 * MINUTE_MS, toMs: endMs, stepMs: MINUTE_MS };
  const marks = record ? marksOf(record, candles, span) : [];
  // The chart of an earlier flare ends before the last price.
  const isNow = bars.length === 0 || span.toMs >= endMs;
  return (
    <TokenChart
      span={bars.length > 0 ? span : hour}
      bars={bars}
      points={points}
      bands={bands}
      marks={bars.length > 0 ? marks : []}
      last={isNow && Number(price) > 0 ? Number(price) : undefined}
    />
  );
}

interface WarningsProps {
  readonly why: Explanation | undefined;
  readonly isRunning: boolean;
  /**
   * The chart's current canary flag; `undefined` if the token is not in the chart, or the flare is
   * not its latest.
   */
  readonly hasCanary: boolean | undefined;
  /** Why the flare ended; `undefined` while it runs, or if unknown. */
  readonly cause: string | undefined;
  readonly flareName: "its last flare" | "this flare";
}

/** The known warnings of the shown flare. If unknown, says so: no warning is no all-clear. */
function Warnings({ why, isRunning, hasCanary, cause, flareName }: WarningsProps) {
  const named = why?.warnings.map(sayWarning).join(", ");
  const isEnded = !isRunning && cause === "canary";
  const sold = isHardToSell(why) ? "; its prices may not be realizable" : "";
  if (isEnded)
    return (
      <Warned text={`${END_TEXTS.canary} at the end of ${flareName}${named ? `: ${named}${sold}` : ""}`} />
    );
  if (named) return <Warned text={isRunning ? named : `${named}, when ${flareName} ended`} />;
  if (hasCanary) return <Warned text={END_TEXTS.canary} />;
  if ((isRunning && why) || hasCanary === false) return <>none</>;
  return <>{why ? `none when ${flareName} ended` : "not known"}</>;
}

function Warned({ text }: { readonly text: string }) {
  return <span class="warned">⚠ {text}</span>;
}
