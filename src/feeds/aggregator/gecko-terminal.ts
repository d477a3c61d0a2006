import { z } from "zod";
import { formatDecimal } from "../../base/lib/text/figures.ts";
import { type MarketGroup, Profile, Window, WindowCounts } from "../../base/market/index.ts";
import { CHAIN_GROUPS, isNameIn, normalizeAddress } from "../../base/model/index.ts";
import { quoteTokensOf } from "../quote-tokens.ts";
import { nameAt } from "../service/group-names.ts";
import { readItems } from "../service/read-answer.ts";
import { reasonOf, Unread } from "../service/unread.ts";

/*
 * GeckoTerminal's public API, keyless. Source: docs.coingecko.com, "Trending Pools by Network" and
 * "New Pools by Network" (cached for 60 s), and apiguide.geckoterminal.com/faq (30 calls a minute,
 * asks users to link back).
 */

/** The requested lists: the pools that trend over five minutes, and the newest ones. */
export const LISTS = ["trending", "new"] as const;
export type List = (typeof LISTS)[number];

/** A chain by GeckoTerminal's name, and the tokens on it in which others are priced. */
export interface AggregatedNetwork {
  readonly id: string;
  readonly group: MarketGroup;
  readonly quotes: readonly { readonly address: string }[];
}

interface AggregatedPool {
  readonly report: Window;
  readonly profile: Profile;
}

/** The chains whose pools are listed. */
export const AGGREGATED: readonly AggregatedNetwork[] = CHAIN_GROUPS.flatMap((group) => {
  const id = nameAt("geckoterminal", group);
  return id === undefined ? [] : [{ id, group, quotes: quoteTokensOf(group) }];
});

const PATHS: Readonly<Record<List, string>> = {
  trending: "trending_pools?duration=5m&include=base_token",
  new: "new_pools?include=base_token",
};
/** Value of the header `accept`. It requests this version of the API. */
export const ACCEPT = "application/json;version=20230203";

export function listUrl(base: string, network: AggregatedNetwork, list: List, page = 1): string {
  return `${base}/networks/${network.id}/${PATHS[list]}&page=${page}`;
}

const Decimal = WindowCounts.shape.usd;
const Percent = z
  .union([z.number(), z.string().regex(/^-?\d+(\.\d+)?$/)])
  .transform(Number)
  .pipe(z.number().gt(-100).max(1e9));
const Counts = z.object({ buys: z.int(), sells: z.int(), buyers: z.int(), sellers: z.int() });

/** Answers of 2024 have no change over half an hour. That of an hour stands in for it. */
const Pool = z.object({
  attributes: z.object({
    address: z.string(),
    base_token_price_usd: Decimal,
    pool_created_at: z.iso.datetime({ offset: true }).nullable(),
    reserve_in_usd: Decimal,
    price_change_percentage: z.object({ m5: Percent, m30: Percent.optional(), h1: Percent }),
    transactions: z.object({ m5: Counts, h1: Counts, h24: Counts }),
    volume_usd: z.object({ m5: Decimal, h1: Decimal, h24: Decimal }),
  }),
  relationships: z.object({ base_token: z.object({ data: z.object({ id: z.string() }) }) }),
});

const Token = z.object({
  id: z.string(),
  type: z.literal("token"),
  attributes: z.object({
    name: z.string().max(1_024).nullable(),
    symbol: z.string().max(256).nullable(),
    image_url: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .nullable()
      .optional()
      .catch(null),
    coingecko_coin_id: z.string().min(1).max(256).nullable(),
  }),
});
type Token = z.infer<typeof Token>;

/**
 * Reads a list, dated `atMs`. Skips invalid pools, which it counts, and pools of quote tokens.
 * Throws UnexpectedAnswer if the answer has no list, or no valid pool in a list with items.
 */
export function readPools(
  body: unknown,
  network: AggregatedNetwork,
  atMs: number,
  unread = new Unread(),
): readonly AggregatedPool[] {
  const answer = z
    .object({ data: z.unknown(), included: z.array(z.unknown()).catch([]) })
    .safeParse(body).data;
  const tokens = new Map(
    (answer?.included ?? []).flatMap((item) => {
      const token = Token.safeParse(item);
      if (!token.success) unread.bad("tokens", reasonOf(token.error, item));
      return token.success ? [[token.data.id, token.data] as const] : [];
    }),
  );
  return readItems(Pool, answer?.data, "pools", unread).flatMap((pool) => {
    const { id } = pool.relationships.base_token.data;
    if (tokens.has(id)) unread.good("tokens");
    else unread.bad("tokens", "it is not included");
    return readPool(pool, tokens, network, atMs, unread) ?? [];
  });
}

function readPool(
  { attributes, relationships }: z.infer<typeof Pool>,
  tokens: ReadonlyMap<string, Token>,
  { id, group, quotes }: AggregatedNetwork,
  atMs: number,
  unread: Unread,
): AggregatedPool | undefined {
  const tokenId = relationships.base_token.data.id;
  const token = tokenId.startsWith(`${id}_`) ? tokenId.slice(id.length + 1) : "";
  if (quotes.some(({ address }) => address === normalizeAddress(group, token))) return undefined;
  if (![token, attributes.address].every((name) => isNameIn(group, name))) {
    unread.bad("reports", `its pool or token has no address of ${id}`);
    return undefined;
  }
  const price = Number(attributes.base_token_price_usd);
  const { m5, m30, h1 } = attributes.price_change_percentage;
  const priceBefore = (percent: number) => formatDecimal(price / (1 + percent / 100));
  const createdAt = Date.parse(attributes.pool_created_at ?? "");
  const counts = (span: "m5" | "h1" | "h24"): WindowCounts => ({
    ...attributes.transactions[span],
    usd: attributes.volume_usd[span],
  });
  const report = Window.safeParse({
    kind: "window",
    at: atMs,
    group,
    pool: attributes.address,
    token,
    price: attributes.base_token_price_usd,
    past: { m5: priceBefore(m5), m30: priceBefore(m30 ?? h1), h1: priceBefore(h1) },
    liquidity: attributes.reserve_in_usd,
    ...(createdAt > 0 ? { createdAt } : {}),
    counts: { m5: counts("m5"), h1: counts("h1"), h24: counts("h24") },
  });
  const profile = profileOf(tokens.get(tokenId), group, token, atMs);
  if (report.success && profile) {
    unread.good("reports");
    return { report: report.data, profile };
  }
  unread.bad("reports", report.success ? "its token is invalid" : reasonOf(report.error, {}));
  return undefined;
}

function profileOf(
  known: Token | undefined,
  group: MarketGroup,
  token: string,
  atMs: number,
): Profile | undefined {
  const { name, symbol, image_url, coingecko_coin_id } = known?.attributes ?? {};
  const marketData = coingecko_coin_id && {
    market_id: coingecko_coin_id,
    image_url: image_url ?? null,
    name: name ?? null,
  };
  return Profile.safeParse({
    kind: "profile",
    at: atMs,
    group,
    token,
    ...(symbol ? { symbol } : {}),
    ...(name ? { name } : {}),
    ...(marketData ? { marketData } : {}),
  }).data;
}
