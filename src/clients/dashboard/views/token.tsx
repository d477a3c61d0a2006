import { useEffect } from "preact/hooks";
import { tokenPath } from "../../../base/lib/text/page-path.ts";
import { safeText } from "../../../base/lib/text/safe-text.ts";
import type { GroupName } from "../../../base/model/groups.ts";
import type {
  AnyFlare,
  ChartItem,
  FlareRecord,
  Listing,
  NestedFlare,
  TokenDetails,
} from "../../../base/model/index.ts";
import { tokenOf } from "../../../base/model/key-of.ts";
import { shortAddress } from "../../../base/model/token-key.ts";
import "../styles/token.css";
import { TokenBell } from "../parts/alerts/bell.tsx";
import { TokenActions } from "../parts/flare/token-actions.tsx";
import { Segments } from "../parts/segments.tsx";
import { TokenPage } from "../parts/token/token-page.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { useAlerts } from "../state/alerts/page-alerts.ts";
import { RANGE_NAMES, type RangeName } from "../state/candles/ranges.ts";
import { recordsOf } from "../state/group/flare-lists.ts";
import { listsOf, nowS, server, view } from "../state/store.ts";
import { type Stored, useTokenDetails } from "../state/use-token-details.ts";

export interface TokenViewProps {
  readonly group: GroupName;
  /** Its address in lower case or, on an exchange, its symbol. */
  readonly tokenKey: string;
  /** The flare that the page is about. Default: the latest. */
  readonly flareId?: string | undefined;
  /** `undefined`: around the flare. */
  readonly range: RangeName | undefined;
  readonly onRange: (range: RangeName) => void;
  readonly level: 1 | 2;
  /** Name of the kind of market, shown by the page of the server; `undefined` for a live one. */
  readonly market?: string | undefined;
  /** What the page already knows. */
  readonly initial?: TokenDetails | undefined;
}

/** One token: its facts, its current flare and the reason, its prices and its flares. */
export function TokenView(props: TokenViewProps) {
  const { group, tokenKey, flareId, range, onRange, level } = props;
  const lists = listsOf(group);
  const isShownToken = (item: Parameters<typeof tokenOf>[0]) => tokenOf(item) === tokenKey;
  const known = lists instanceof Error ? undefined : lists;
  const { pro = [], free = [], finished_trending = [] } = known?.flares ?? {};
  const flare = [...pro, ...free].find(isShownToken);
  const past = finished_trending.filter(isShownToken);
  const listing = group === "bsc" ? view.value?.newest?.bsc?.find(isShownToken) : undefined;
  const charted: readonly ChartItem[] = view.value?.charts?.[group] ?? [];
  const item = charted.find((item) => isShownToken("flare" in item ? item.flare : item));
  const chart = item && { ...item, rank: charted.indexOf(item) + 1 };
  const nested = item && "flare" in item ? item.flare : undefined;
  const stored = useTokenDetails(group, tokenKey, (flare ?? past[0])?.id, props.initial);
  const records = recordsOf(stored?.details?.flares ?? [], flare ? [flare, ...past] : past, known);
  const details = merge(group, stored?.details, flare ?? nested ?? listing, records, past[0], chart);
  const { alerts } = useAlerts();
  const title = `${details ? safeText(details.symbol) : "Token"} – Flarewire`;
  useEffect(() => {
    if (alerts) alerts.title = title;
  }, [alerts, title]);
  if (!details) return <Unknown tokenKey={tokenKey} stored={stored} />;
  const { address, symbol, name, price, created_at } = details;
  const token = {
    address: address ?? undefined,
    symbol,
    name: name ?? "",
    price,
    created_at: created_at ?? "",
  };
  const market = records.map((one) => one.flare).find((one) => "pair" in one);
  const ranges = group === "bsc" && (
    <Segments legend="Time shown" name="range" options={RANGE_NAMES} chosen={range} onChoose={onRange} />
  );
  const root = level === 1 ? server.value.pathname : "";
  const actions = (
    <>
      <TokenBell group={group} token={token} />
      <TokenActions
        group={group}
        token={token}
        pair={market?.pair}
        page={`${root}${tokenPath(group, tokenKey)}`}
      />
    </>
  );
  return (
    <TokenPage
      details={details}
      flareId={flareId}
      nowMs={nowS.value * 1_000}
      range={range}
      level={level}
      ranges={ranges}
      actions={actions}
      root={root}
      market={props.market}
      problem={stored?.problem}
    />
  );
}

/** Returns the stored details with what the lists know, which is newer. */
function merge(
  group: GroupName,
  stored: TokenDetails | undefined,
  current: AnyFlare | NestedFlare | Listing | undefined,
  flares: readonly FlareRecord[],
  latest: AnyFlare | undefined,
  chart: TokenDetails["chart"] | undefined,
): TokenDetails | undefined {
  const from = current ?? (stored ? undefined : latest);
  const facts = from && factsOf(from);
  if (!stored && !facts) return undefined;
  const { price_at = null } = facts ?? {};
  const isOlder = stored?.price_at && price_at !== null && price_at < stored.price_at;
  return {
    ...UNKNOWN,
    group,
    ...stored,
    ...facts,
    ...(isOlder && { price: stored.price, price_at: stored.price_at }),
    as_of: current ? null : (stored?.as_of ?? latest?.finished_trending_at ?? null),
    ...(current && "canary" in current && { canary: current.canary }),
    ...(chart && { chart }),
    flares: [...flares],
  };
}

const UNKNOWN = {
  symbol: "",
  address: null,
  name: null,
  price: "0",
  price_at: null,
  created_at: null,
  liquidity: null,
  market_data: null,
  social_data: null,
  contract_source: null,
  as_of: null,
  warnings: [],
  canary: null,
  chart: null,
  leaderboard: null,
  candles: [],
} satisfies Omit<TokenDetails, "group" | "flares">;

function factsOf({
  token,
  liquidity,
  market_data,
  social_data,
  contract_source,
}: AnyFlare | NestedFlare | Listing) {
  const { address = null, price_at = null, ...named } = token;
  return { ...named, address, price_at, liquidity, market_data, social_data, contract_source };
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
