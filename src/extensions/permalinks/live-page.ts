import { tokenPath } from "../../base/lib/text/page-path.ts";
import { HOUR_MS, MINUTE_MS, startOf } from "../../base/lib/time/time.ts";
import type { FlareRecord, TokenDetails } from "../../base/model/index.ts";
import { Html, html, type PageRenderer } from "../pages/index.ts";

interface LivePageOptions {
  readonly details: TokenDetails;
  /** The flare that the page is about; `undefined`: the latest. */
  readonly record?: FlareRecord | undefined;
  readonly key: string;
  /** Event time. */
  readonly nowMs: number;
  readonly root: string;
  readonly market: string | undefined;
  readonly kind: { readonly origin: string; readonly facts: readonly string[] };
}

/** Older flares stay as rendered, because the details of a token lack their prices. */
const LIVE_MS = 23 * HOUR_MS;

/** Renders the page of a token or flare, which a script makes live. */
export function livePage(
  { renderTokenPage }: PageRenderer,
  { details, record, key, root, market, kind, ...given }: LivePageOptions,
): Html {
  const { group } = details;
  // Whole minutes, so that the page has one version until its data changes.
  const nowMs = startOf(MINUTE_MS, given.nowMs);
  const flareId = record?.flare.id;
  const page = new Html(renderTokenPage({ details, flareId, nowMs, root, market, kind }));
  const isLive = !record || nowMs - Date.parse(record.flare.started_trending_at) < LIVE_MS;
  const names = html` data-group="${group}" data-token="${key}" data-root="${root}" data-now="${nowMs}"`;
  const flare = flareId === undefined ? html`` : html` data-flare="${flareId}"`;
  const kindOf = market === undefined ? html`` : html` data-market="${market}"`;
  const json = flareId === undefined ? `tokens/${group}/${encodeURIComponent(key)}` : `flares/${flareId}`;
  return html`<div${isLive ? html` id="live"` : html``}${names}${flare}${kindOf}>${page}</div>
<p class="links">${record ? html`<a href="${root}${tokenPath(group, key)}">All flares of this token</a> ` : html``}<a href="${root}api/v1/${json}">JSON</a></p>`;
}

/** Returns the details with this flare, and with the candles around it. */
export function withFlare(
  details: TokenDetails,
  record: FlareRecord,
  candles: TokenDetails["candles"],
): TokenDetails {
  const known = new Set(details.candles.map(({ open_at }) => open_at));
  const all = [...candles.filter(({ open_at }) => !known.has(open_at)), ...details.candles];
  const isKnown = details.flares.some(({ flare }) => flare.id === record.flare.id);
  return {
    ...details,
    candles: all.sort((a, b) => (a.open_at < b.open_at ? -1 : 1)),
    flares: details.flares
      .map((one) => (one.flare.id === record.flare.id ? record : one))
      .concat(isKnown ? [] : record),
  };
}
