import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import type { View } from "../../client/index.ts";
import { formatPct } from "../../lib/text/format-pct.ts";
import type { Explanation, Token } from "../../model/index.ts";
import { outcomeText } from "../../model/text/outcome-text.ts";
import { CoursePlot } from "../parts/flare/flare-plot.tsx";
import { Price } from "../parts/flare/price.tsx";
import { TokenActions } from "../parts/flare/token-actions.tsx";
import { Warnings } from "../parts/flare/warnings.tsx";
import { TERMS, WhyBars, WhyLegend } from "../parts/flare/why-bars.tsx";
import { IsAnonymous, usePriceLabel } from "../parts/market.ts";
import type { CandlePlotProps } from "../parts/plot/candle-plot.tsx";
import { PricePlot } from "../parts/plot/price-plot.tsx";
import type { Band } from "../parts/plot/use-plot.ts";
import { Segments } from "../parts/segments.tsx";
import { TimeText } from "../parts/time-text.tsx";
import { Outward, UntrustedText } from "../parts/untrusted-text.tsx";
import { flareHref } from "../route.ts";
import { type PricePoint, pointsOfChart, pointsUntil } from "../state/candles/plot.ts";
import { barsWithin, RANGE_NAMES, RANGES, type RangeName } from "../state/candles/ranges.ts";
import { useCandles } from "../state/candles/use-candles.ts";
import { useTokenCandles } from "../state/candles/use-token-candles.ts";
import { type Episode, fetchEpisodes, withListed } from "../state/token-history.ts";
import { formatMeasured, formatSpan, formatUsd, shortAddress } from "../text/format.ts";
import { sourceText } from "../text/source-text.ts";
import { onDemand } from "./on-demand.tsx";

const CandlePlot = onDemand<CandlePlotProps>(
  async () => (await import("../parts/plot/candle-plot.tsx")).CandlePlot,
);

interface TokenViewProps {
  readonly address: string;
  readonly view: View;
  readonly nowMs: number;
  readonly server: URL;
  readonly apiKey: string | undefined;
}

/** One token: its facts, its current flare and the reason, and its flares of the last 24 hours. */
export function TokenView({ address, view, nowMs, server, apiKey }: TokenViewProps) {
  const isIt = (token: Token) => token.address.toLowerCase() === address;
  const { pro = [], free = [], finished_trending = [] } = view.flares ?? {};
  const flare = [...pro, ...free].find((one) => isIt(one.token));
  const past = finished_trending.filter((one) => isIt(one.token));
  const listing = view.newest?.bsc?.find((one) => isIt(one.token));
  const chart = view.charts?.bsc?.find((one) => isIt(one.flare.token));
  const latest = flare ?? past[0];
  const known = latest ?? chart?.flare ?? listing;
  const fetched = useEpisodes(server, address, apiKey, latest?.id);
  const isUnread = fetched instanceof Error;
  const listed = flare ? [flare, ...past] : past;
  const episodes = fetched && withListed(isUnread ? [] : fetched, listed, view.explanations);
  const priceLabel = usePriceLabel();
  const candles = useCandles(server, apiKey, flare ? [flare] : []).of.get(address);
  const minuteMs = Math.floor(nowMs / 60_000) * 60_000;
  const stored = useTokenCandles(server, apiKey, address);
  const closes = flare && candles ? pointsUntil(candles, nowMs, flare.token.price) : [];
  const points =
    closes.length > 0
      ? closes
      : chart && pointsOfChart(chart.most_recent_price_average, chart.latest_candle_prices, minuteMs);
  if (!known) return <Unknown address={address} episodes={episodes} />;
  const { token, social_data, contract_source, liquidity } = known;
  return (
    <article class="token-page">
      <h2>
        <UntrustedText text={token.symbol} />{" "}
        <small>
          <UntrustedText text={token.name} />
        </small>
      </h2>
      <p class="links">
        <code title={token.address}>{shortAddress(token.address)}</code>
        <TokenActions token={token} />
        <Outward href={social_data?.website_url} label="Site" />
        <Outward href={social_data?.chat_url} label="Chat" />
        <Outward href={social_data?.microblog_url} label="Posts" />
      </p>
      <dl class="facts">
        <dt>{priceLabel}</dt>
        <dd>
          <Price value={token.price} />
        </dd>
        <dt class="of-liquidity">Liquidity</dt>
        <dd class="of-liquidity">{formatUsd(liquidity)}</dd>
        <dt class="of-profiles">Source code</dt>
        <dd class="of-profiles">{sourceText(contract_source, latest && view.explanations[latest.id])}</dd>
        <dt>Warnings</dt>
        <dd>
          <Warnings
            why={latest && view.explanations[latest.id]}
            isRunning={flare !== undefined}
            hasCanary={chart?.flare.canary}
            lastCause={(episodes ?? withListed([], listed, view.explanations))[0]?.cause}
          />
        </dd>
        <dt>Created</dt>
        <dd>{formatSpan(nowMs - Date.parse(token.created_at))} ago</dd>
      </dl>
      {/* The same height with and without a flare, so that nothing moves. */}
      <section class="now" aria-labelledby="now-title">
        <h3 id="now-title">
          {flare
            ? `Flaring for ${formatSpan(nowMs - Date.parse(flare.started_trending_at))}: ${formatPct(flare.recent_price_change)} in 5 minutes`
            : "Not flaring now."}
        </h3>
        <WhyLegend />
        {flare ? <WhyBars why={view.explanations[flare.id]} /> : <span class="why" />}
        <p class="why-text">{flare && view.explanations[flare.id]?.text}</p>
        <Terms why={flare && view.explanations[flare.id]} />
      </section>
      <div class="beside">
        <section aria-labelledby="plot-title">
          <Prices
            stored={stored}
            points={points ?? []}
            bands={bandsOf(episodes ?? withListed([], listed, {}))}
            endMs={minuteMs}
          />
        </section>
        <section aria-labelledby="past-title">
          <h3 id="past-title">Flares of the last 24 hours</h3>
          {isUnread && <p role="status">Only flares from the lists: {fetched.message}.</p>}
          {(!isUnread || listed.length > 0) && <Episodes episodes={episodes} outcomes={view.outcomes} />}
        </section>
      </div>
    </article>
  );
}

interface PricesProps {
  /** `undefined` until they are loaded. */
  readonly stored: ReturnType<typeof useTokenCandles>;
  /** The closes of the last hour, in place of its candles. */
  readonly points: readonly PricePoint[];
  readonly bands: readonly Band[];
  readonly endMs: number;
}

/** The price of the last 1, 6 or 24 hours, as far as it is stored. */
function Prices({ stored, points, bands, endMs }: PricesProps) {
  const [range, setRange] = useState<RangeName>("1h");
  const bars = useMemo(() => stored && barsWithin(stored, range, endMs), [stored, range, endMs]);
  const priced = bars?.filter(({ close }) => close !== null).length ?? 0;
  return (
    <>
      <div class="plot-head">
        <h3 id="plot-title">Price</h3>
        <Segments legend="Time shown" name="range" options={RANGE_NAMES} chosen={range} onChoose={setRange} />
      </div>
      <div class="plot-room">
        {bars && priced > 1 ? (
          <CandlePlot key={range} bars={bars} bands={bands} range={range} endMs={endMs} />
        ) : bars && range === "1h" && points.length > 1 ? (
          <PricePlot points={points} bands={bands} />
        ) : (
          <p class="plot none">
            {bars ? `No prices of the last ${RANGES[range].hours} h are stored.` : "Loading…"}
          </p>
        )}
      </div>
      <small class="soft">Minutes around its flares are stored. Flares are shaded.</small>
    </>
  );
}

/** A token that is on no list. Only its history is shown. */
function Unknown({
  address,
  episodes,
}: {
  readonly address: string;
  readonly episodes: readonly Episode[] | undefined;
}) {
  return (
    <article class="token-page">
      <h2>
        <UntrustedText text={shortAddress(address)} />
      </h2>
      <p class="now">
        This token is in no list now: it is not flaring, in no chart, and not recently listed.
      </p>
      <section aria-labelledby="past-title">
        <h3 id="past-title">Flares of the last 24 hours</h3>
        <Episodes episodes={episodes} />
      </section>
    </article>
  );
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
        {TERMS.map((name) => {
          const term = why?.terms.find((one) => one.name === name);
          const [value, unit] = term ? formatMeasured(term) : ["–", ""];
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                {value} <small>{unit}</small>
              </td>
              <td>{term ? term.z.toFixed(2) : "–"}</td>
              <td>{term ? term.weight.toFixed(2) : "–"}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function bandsOf(episodes: readonly Episode[]): readonly Band[] {
  return episodes.map(({ startedAt, finishedAt }) => ({
    startMs: Date.parse(startedAt),
    endMs: finishedAt === undefined ? undefined : Date.parse(finishedAt),
  }));
}

interface EpisodesProps {
  readonly episodes: readonly Episode[] | undefined;
  readonly outcomes?: View["outcomes"];
}

function Episodes({ episodes, outcomes = {} }: EpisodesProps) {
  const isAnonymous = useContext(IsAnonymous);
  if (!episodes) return <p class="empty">Loading…</p>;
  if (episodes.length === 0) return <p class="empty">None in the server's log.</p>;
  return (
    <ol class="episodes">
      {episodes.map(({ id, startedAt, finishedAt, score, cause }) => (
        <li key={id}>
          {isAnonymous && finishedAt !== undefined ? (
            <a href={flareHref(id)}>
              <TimeText at={startedAt} />
            </a>
          ) : (
            <TimeText at={startedAt} />
          )}
          {score !== undefined && <span>score {score.toFixed(2)}</span>}
          {finishedAt === undefined ? (
            <b>running</b>
          ) : (
            <span>
              {cause ?? "over"} after {formatSpan(Date.parse(finishedAt) - Date.parse(startedAt))}
            </span>
          )}
          {finishedAt !== undefined && outcomes[id] && (
            <>
              <CoursePlot
                outcome={outcomes[id]}
                startMs={Date.parse(startedAt)}
                endMs={Date.parse(finishedAt)}
              />
              <span>{outcomeText(outcomes[id])}</span>
            </>
          )}
        </li>
      ))}
    </ol>
  );
}

/** Fetches the token's flares, again whenever `latest` changes. An Error on failure. */
function useEpisodes(server: URL, address: string, apiKey: string | undefined, latest: string | undefined) {
  const [episodes, setEpisodes] = useState<readonly Episode[] | Error>();
  useEffect(() => {
    const over = new AbortController();
    fetchEpisodes(server, address, apiKey, over.signal).then(setEpisodes, (error: unknown) => {
      if (!over.signal.aborted) setEpisodes(error instanceof Error ? error : new Error(String(error)));
    });
    return () => over.abort();
  }, [server.href, address, apiKey, latest]);
  return episodes;
}
