import { useContext, useEffect, useMemo } from "preact/hooks";
import { formatUsd } from "../../../base/lib/text/figures.ts";
import { flarePath, tokenPath } from "../../../base/lib/text/page-path.ts";
import { formatPct } from "../../../base/lib/text/percent.ts";
import { safeText } from "../../../base/lib/text/safe-text.ts";
import { DAY_MS, MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import { GROUP_FACTS, type GroupName } from "../../../base/model/groups.ts";
import type { ChartItem, Explanation, FlareRecord, TokenDetails } from "../../../base/model/index.ts";
import { tokenOf } from "../../../base/model/key-of.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import { lockedText } from "../../../base/model/text/locked-text.ts";
import { outcomeText } from "../../../base/model/text/outcome-text.ts";
import { shortAddress } from "../../../base/model/token-key.ts";
import type { View } from "../../sdk/index.ts";
import { TokenBell } from "../parts/alerts/bell.tsx";
import { CoursePlot } from "../parts/flare/flare-plot.tsx";
import { Price } from "../parts/flare/price.tsx";
import { RunningReason } from "../parts/flare/surge.tsx";
import { TokenActions } from "../parts/flare/token-actions.tsx";
import { Warnings } from "../parts/flare/warnings.tsx";
import { WhyBars, WhyLegend } from "../parts/flare/why-bars.tsx";
import { LACKING } from "../parts/groups.tsx";
import { IsAnonymous, usePriceLabel } from "../parts/market.ts";
import { onDemand } from "../parts/on-demand.tsx";
import type { CandlePlotProps } from "../parts/plot/candle-plot.tsx";
import { PricePlot } from "../parts/plot/price-plot.tsx";
import type { Band } from "../parts/plot/use-plot.ts";
import { Segments } from "../parts/segments.tsx";
import { TimeText } from "../parts/time-text.tsx";
import { Outward, UntrustedText } from "../parts/untrusted-text.tsx";
import { useAlerts } from "../state/alerts/page-alerts.ts";
import { type PricePoint, pointsOfChart, pointsUntil } from "../state/candles/plot.ts";
import {
  barsWithin,
  RANGE_NAMES,
  RANGES,
  type RangeName,
  type StoredCandle,
} from "../state/candles/ranges.ts";
import { useCandles } from "../state/candles/use-candles.ts";
import type { FlareLists } from "../state/group/flare-lists.ts";
import { recordsOf } from "../state/group/flare-lists.ts";
import { type Stored, useTokenDetails } from "../state/use-token-details.ts";
import { formatMeasured, withMinus } from "../text/format.ts";
import { sourceText } from "../text/source-text.ts";
import { formatSpan } from "../text/span.ts";

const CandlePlot = onDemand<CandlePlotProps>(
  async () => (await import("../parts/plot/candle-plot.tsx")).CandlePlot,
);

const NO_LISTS: FlareLists = { explanations: {} };

interface TokenViewProps {
  readonly group: GroupName;
  /** Its address in lower case or, on an exchange, its symbol. */
  readonly tokenKey: string;
  readonly range: RangeName;
  readonly onRange: (range: RangeName) => void;
  readonly view: View;
  /** The flares of the group; `undefined` before they load, an Error if they were refused. */
  readonly lists: FlareLists | Error | undefined;
  readonly nowMs: number;
  readonly server: URL;
  readonly apiKey: string | undefined;
}

/** One token: its facts, its current flare and the reason, its prices and its flares. */
export function TokenView({ group, tokenKey, view, lists, nowMs, server, apiKey, ...shown }: TokenViewProps) {
  const isShownToken = (item: Parameters<typeof tokenOf>[0]) => tokenOf(item) === tokenKey;
  const known = lists instanceof Error || !lists ? NO_LISTS : lists;
  const { explanations } = known;
  const { pro = [], free = [], finished_trending = [] } = known.flares ?? {};
  const flare = [...pro, ...free].find(isShownToken);
  const past = finished_trending.filter(isShownToken);
  const listing = group === "bsc" ? view.newest?.bsc?.find(isShownToken) : undefined;
  const charted: readonly ChartItem[] = view.charts?.[group] ?? [];
  const chart = charted.find((item) => isShownToken("flare" in item ? item.flare : item));
  const nested = chart && "flare" in chart ? chart.flare : undefined;
  const latest = flare ?? past[0];
  const stored = useTokenDetails(server, apiKey, group, tokenKey, latest?.id);
  const details = stored?.details;
  const listed = flare ? [flare, ...past] : past;
  const records = recordsOf(details?.flares ?? [], listed, known);
  const why = records[0]?.why ?? undefined;
  const reason = flare && explanations[flare.id];
  const priceLabel = usePriceLabel();
  const candles = useCandles(server, apiKey, flare && group === "bsc" ? [flare] : []).byAddress.get(tokenKey);
  const minuteMs = startOf(MINUTE_MS, nowMs);
  const closes = flare && candles ? pointsUntil(candles, nowMs, flare.token.price) : [];
  const points =
    closes.length > 0
      ? closes
      : chart && pointsOfChart(chart.most_recent_price_average, chart.latest_candle_prices, minuteMs);
  const current = flare ?? nested ?? listing;
  const facts = current ?? (details && factsOf(details)) ?? latest;
  const { alerts } = useAlerts();
  const title = `${facts ? safeText(facts.token.symbol) : "Token"} – Flarewire`;
  useEffect(() => {
    if (alerts) alerts.title = title;
  }, [alerts, title]);
  const isOfEnd = current === undefined && details?.as_of !== null;
  if (!facts) return <Unknown tokenKey={tokenKey} stored={stored} />;
  const { token, social_data, contract_source, liquidity } = facts;
  const market = records.map((one) => one.flare).find((one) => "pair" in one);
  return (
    <article class={`token-page ${LACKING[group]}`}>
      <h2>
        <UntrustedText text={token.symbol} />{" "}
        <small>
          <UntrustedText text={token.name} />
        </small>
      </h2>
      <p class="links">
        <span class="tag">{market?.exchange ? safeText(market.exchange) : GROUP_FACTS[group].label}</span>
        {token.address ? (
          <code title={token.address}>{shortAddress(token.address)}</code>
        ) : (
          market?.pair && <code>{safeText(market.pair)}</code>
        )}
        <TokenBell group={group} token={token} />
        <TokenActions group={group} token={token} pair={market?.pair} page={tokenPath(group, tokenKey)} />
        <Outward href={social_data?.website_url} label="Site" />
        <Outward href={social_data?.chat_url} label="Chat" />
        <Outward href={social_data?.microblog_url} label="Posts" />
      </p>
      <dl class="facts">
        <dt>{priceLabel}</dt>
        <dd>
          <Price value={token.price} />
          {isOfEnd && <small> when its last flare ended</small>}
        </dd>
        <dt class="of-liquidity">Liquidity</dt>
        <dd class="of-liquidity">
          {formatUsd(liquidity)} <small>{lockedText(why?.locked)}</small>
        </dd>
        <dt class="of-profiles">Source code</dt>
        <dd class="of-profiles">{sourceText(contract_source, why)}</dd>
        <dt>Warnings</dt>
        <dd>
          <Warnings
            why={why}
            isRunning={flare !== undefined}
            hasCanary={nested?.canary}
            lastCause={records[0]?.cause ?? undefined}
          />
        </dd>
        {token.created_at !== "" && (
          <>
            <dt>Created</dt>
            <dd>{formatSpan(nowMs - Date.parse(token.created_at))} ago</dd>
          </>
        )}
        {!latest && !chart && !listing && details?.as_of && (
          <>
            <dt>As of</dt>
            <dd>
              <DayTime at={details.as_of} nowMs={nowMs} />
            </dd>
          </>
        )}
      </dl>
      <section class="now" aria-labelledby="now-title">
        <h3 id="now-title">
          {flare
            ? `Flaring for ${formatSpan(nowMs - Date.parse(flare.started_trending_at))}: ${formatPct(flare.recent_price_change)} in 5 minutes`
            : "Not flaring now."}
        </h3>
        <p class="why-text">{flare ? <RunningReason why={reason} /> : lastText(records[0])}</p>
      </section>
      <div class="beside">
        <section aria-labelledby="plot-title">
          <Prices
            {...shown}
            hasCandles={group === "bsc"}
            stored={stored && (details?.candles ?? [])}
            points={points ?? []}
            bands={records.map(bandOf)}
            endMs={minuteMs}
          />
        </section>
        <section aria-labelledby="past-title">
          <h3 id="past-title">Its flares</h3>
          {stored?.problem !== undefined && (
            <p role="status">
              Some may be missing, because the stored flares did not load: {stored.problem}.
            </p>
          )}
          <Flares records={stored || records.length > 0 ? records : undefined} nowMs={nowMs} />
        </section>
      </div>
      {/* Last on a phone, so that nothing moves when a flare starts or ends. */}
      {flare && (
        <section class="reasons" aria-labelledby="reasons-title">
          <h3 id="reasons-title">Why it flares now</h3>
          <WhyLegend of={[reason]} />
          <WhyBars why={reason} />
          <Terms why={reason} />
          <small class="soft">
            The score is the sum of each term's deviations times its weight. A term counts as at least 0, and
            above 5 deviations ever more slowly.
          </small>
        </section>
      )}
    </article>
  );
}

interface PricesProps extends Pick<TokenViewProps, "range" | "onRange"> {
  /**
   * Whether candles of the group are stored. Otherwise the only prices are the last hour's, from
   * the group's chart.
   */
  readonly hasCandles: boolean;
  /** `undefined` until they are loaded. */
  readonly stored: readonly StoredCandle[] | undefined;
  /** Prices of the last hour, shown in the range `1h` if fewer than two candles have prices. */
  readonly points: readonly PricePoint[];
  readonly bands: readonly Band[];
  readonly endMs: number;
}

/** The price of the last 1, 6 or 24 hours, as far as it is stored. */
function Prices({ range: given, onRange, hasCandles, stored, points, bands, endMs }: PricesProps) {
  const range = hasCandles ? given : RANGE_NAMES[0];
  const bars = useMemo(() => stored && barsWithin(stored, range, endMs), [stored, range, endMs]);
  const priced = bars?.filter(({ close }) => close !== null).length ?? 0;
  return (
    <>
      <div class="plot-head">
        <h3 id="plot-title">Price</h3>
        {hasCandles && (
          <Segments
            legend="Time shown"
            name="range"
            options={RANGE_NAMES}
            chosen={range}
            onChoose={onRange}
          />
        )}
      </div>
      <div class="plot-room">
        {bars && priced > 1 ? (
          <CandlePlot key={range} bars={bars} bands={bands} range={range} endMs={endMs} />
        ) : bars && range === "1h" && points.length > 1 ? (
          <PricePlot points={points} bands={bands} />
        ) : (
          <p class="plot none">
            {bars
              ? `No prices for the last ${RANGES[range].hours} h are ${hasCandles ? "stored" : "known"}.`
              : "Loading…"}
          </p>
        )}
      </div>
      <small class="soft">
        {hasCandles
          ? "Prices are stored for the minutes around its flares."
          : "The last hour is shown while the token is in its group's chart. Prices are stored for BSC only."}{" "}
        Flares are shaded.
      </small>
    </>
  );
}

/** Replaces the page while nothing is known about the token, and states why. */
function Unknown({ tokenKey, stored }: { readonly tokenKey: string; readonly stored: Stored | undefined }) {
  const text =
    stored === undefined
      ? "Loading…"
      : stored.problem === undefined
        ? "This token is in no list now, and no flare of it is stored."
        : `This token is in no list now. Its flares did not load: ${stored.problem}.`;
  return (
    <article class="token-page">
      <h2>
        <UntrustedText text={shortAddress(tokenKey)} />
      </h2>
      <p class="now">{text}</p>
    </article>
  );
}

/**
 * Returns stored facts in the form of a flare's, with the API's neutral values for unknown ones.
 */
function factsOf({ symbol, address, name, price, created_at, ...facts }: TokenDetails) {
  const token = {
    symbol,
    price,
    address: address ?? undefined,
    name: name ?? "",
    created_at: created_at ?? "",
  };
  const { liquidity, social_data, contract_source } = facts;
  return {
    token,
    social_data,
    liquidity: liquidity ?? "0",
    contract_source: contract_source ?? ({ status: "0", message: "NOTOK" } as const),
  };
}

/**
 * Describes the last flare, in place of a running one's reason. Empty if its outcome is unknown.
 */
function lastText(record: FlareRecord | undefined): string {
  return record?.outcome ? `Its last flare: ${outcomeText(record.outcome, record.why)}.` : "";
}

function Terms({ why }: { readonly why: Explanation | undefined }) {
  return (
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
        {why?.terms.map((term) => {
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
  );
}

function bandOf({ flare: { started_trending_at, finished_trending_at } }: FlareRecord): Band {
  return {
    startMs: Date.parse(started_trending_at),
    endMs: finished_trending_at === null ? undefined : Date.parse(finished_trending_at),
  };
}

interface FlaresProps {
  /** `undefined` until they are loaded. */
  readonly records: readonly FlareRecord[] | undefined;
  readonly nowMs: number;
}

function Flares({ records, nowMs }: FlaresProps) {
  const isAnonymous = useContext(IsAnonymous);
  if (!records) return <p class="empty">Loading…</p>;
  if (records.length === 0) return <p class="empty">No flare of this token is stored.</p>;
  return (
    <ol class="episodes">
      {records.map(({ flare, started, why, cause, outcome }) => {
        const { id, started_trending_at: startedAt, finished_trending_at: finishedAt } = flare;
        const score = started?.score ?? outcome?.start_score;
        const start = <DayTime at={startedAt} nowMs={nowMs} />;
        return (
          <li key={id}>
            {isAnonymous && finishedAt !== null ? <a href={flarePath(id)}>{start}</a> : start}
            {score != null && <span>score {score.toFixed(2)}</span>}
            {finishedAt === null ? (
              <b>running</b>
            ) : (
              <span>
                {cause ? END_TEXTS[cause] : "ended"} after{" "}
                {formatSpan(Date.parse(finishedAt) - Date.parse(startedAt))}
              </span>
            )}
            {finishedAt !== null && outcome && (
              <>
                <CoursePlot
                  outcome={outcome}
                  startMs={Date.parse(startedAt)}
                  endMs={Date.parse(finishedAt)}
                />
                <span>{outcomeText(outcome, why)}</span>
              </>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** A time, with its date unless it is less than a day ago. */
function DayTime({ at, nowMs }: { readonly at: string; readonly nowMs: number }) {
  return (
    <>
      {nowMs - Date.parse(at) >= DAY_MS && `${at.slice(0, 10)} `}
      <TimeText at={at} />
    </>
  );
}
