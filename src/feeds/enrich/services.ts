import { z } from "zod";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/lib/time/time.ts";
import { CHAIN_GROUPS, GROUP_FACTS, isNameIn, normalizeAddress } from "../../base/model/index.ts";
import { groupedKey } from "../../base/model/token-key.ts";
import { nameAt } from "../service/group-names.ts";
import { readItems, readWhole } from "../service/read-answer.ts";
import { Refusal, UnexpectedAnswer } from "../service/service-client.ts";
import { reasonOf, Unread } from "../service/unread.ts";
import type { Facts } from "./enricher.ts";
import type { Lookup } from "./lookup-enricher.ts";
import type { Table } from "./table-enricher.ts";

const Coin = z.object({
  id: z.string().min(1).max(256),
  name: z.string().max(1_024),
  platforms: z.record(z.string(), z.string().nullable()),
});

/**
 * CoinGecko's list of all coins with their contracts, fetched twice a day: `market_data` of listed
 * tokens. Needs no key (see {@link coingeckoHeaders}); has no pictures. Source: docs.coingecko.com,
 * "Coins List (ID Map)", `GET /coins/list?include_platform=true`.
 */
export function coingecko(url: string): Table {
  return {
    name: "coingecko",
    url: `${url}/api/v3/coins/list?include_platform=true`,
    everyMs: 12 * HOUR_MS,
    gone: { marketData: null },
    read: (body, unread) => {
      const facts = new Map<string, Facts>();
      const coins = readItems(Coin, body, "coins", unread);
      for (const { id, name, platforms } of coins) {
        for (const group of CHAIN_GROUPS) {
          const token = platforms[nameAt("coingecko", group) ?? ""];
          if (token && isNameIn(group, token))
            facts.set(groupedKey({ group, token }), { marketData: { market_id: id, image_url: null, name } });
        }
      }
      // Otherwise every token would count as withdrawn.
      if (coins.length > 0 && facts.size === 0)
        throw new UnexpectedAnswer(`returned ${coins.length} coins without an address on a known chain`);
      return facts;
    },
  };
}

/**
 * Returns the header with CoinGecko's key. The host of paid plans expects a different header than
 * the public host, which takes demo keys. Source: docs.coingecko.com, "Authentication".
 */
export function coingeckoHeaders(url: string, key: string | undefined): Readonly<Record<string, string>> {
  if (key === undefined) return {};
  return { [new URL(url).hostname.startsWith("pro-") ? "x-cg-pro-api-key" : "x-cg-demo-api-key"]: key };
}

const Contract = z.object({ match: z.string().nullable() });

/**
 * Looks up whether Sourcify has a contract's verified source. A missing one proves nothing, because
 * it may be verified elsewhere. Needs no key. Source: docs.sourcify.dev, API v2, `GET
 * /v2/contract/{chainId}/{address}`: 404 if there is none.
 */
export function sourcify(url: string): Lookup {
  return {
    name: "sourcify",
    maxTokens: 1,
    serves: (group) => GROUP_FACTS[group].chainId !== undefined,
    url: (group, [token = ""]) => `${url}/v2/contract/${GROUP_FACTS[group].chainId}/${token}`,
    read: (body, [token = ""], _group, unread) =>
      new Map(
        readWhole(Contract, body, "contract", unread).match === null
          ? []
          : [[token, { contractSource: "verified" }]],
      ),
    holdsMs: (facts) => (facts ? 30 * DAY_MS : HOUR_MS),
  };
}

const Source = z.object({ status: z.string(), message: z.string(), result: z.unknown().optional() });
const SourceItem = z.object({ ABI: z.string() });
const UNVERIFIED = "Contract source code not verified";
/** Matches the answers about a chain that the key's plan, or the service, does not include. */
const UNSUPPORTED_CHAIN = /not supported for this chain|unsupported chainid/i;

/**
 * Looks up whether Etherscan has a contract's verified source. Status 1 and message OK also occur
 * for unverified contracts, whose ABI field then has a fixed text. Status 0 and NOTOK report
 * failures such as rate limits, and chains that the key's plan does not include. Needs a key. Free
 * keys serve Polygon, but neither BSC nor Avalanche. Source: docs.etherscan.io, "Get Contract
 * Source Code" and "Common Error Messages".
 */
export function etherscan(url: string, key: string): Lookup {
  const hidden = (text: string) => text.replaceAll(key, "***").slice(0, 100);
  return {
    name: "etherscan",
    maxTokens: 1,
    serves: (group) => GROUP_FACTS[group].chainId !== undefined,
    url: (group, [token = ""]) =>
      `${url}/v2/api?${new URLSearchParams({ chainid: String(GROUP_FACTS[group].chainId), module: "contract", action: "getsourcecode", address: token, apikey: key })}`,
    read: (body, [token = ""], _group, unread) => {
      const { status, message, result } = readWhole(Source, body, "source", unread);
      if (status !== "1" && UNSUPPORTED_CHAIN.test(`${message} ${String(result)}`))
        throw new Refusal("this key's plan lacks the chain; a paid plan serves it");
      if (status !== "1")
        throw new UnexpectedAnswer(`returned ${hidden(message)} (${hidden(String(result))})`);
      const [item] = readItems(SourceItem, result, "sources", unread);
      if (!item) throw new UnexpectedAnswer("returned no source");
      return new Map([[token, { contractSource: item.ABI === UNVERIFIED ? "unverified" : "verified" }]]);
    },
    holdsMs: (facts) => (facts?.contractSource === "verified" ? 30 * DAY_MS : HOUR_MS),
  };
}

const HttpLink = z
  .string()
  .max(2_048)
  .regex(/^https?:\/\/\S+$/i);
const Website = z.object({ url: HttpLink });
const Social = z.object({ type: z.string(), url: HttpLink });
const Pair = z.object({
  baseToken: z.object({ address: z.string() }),
  info: z
    .object({
      websites: z.array(z.unknown()).optional(),
      socials: z.array(z.unknown()).optional(),
    })
    .optional(),
});

const NO_LINKS: Facts = { socialData: null };
/** A token that trades is noted every few minutes, so its links are renewed within an hour. */
const LINKS_HOLD_MS = 55 * MINUTE_MS;

/**
 * Looks up the links that a token's makers gave to DexScreener: `social_data`. Needs no key. Allows
 * 300 requests per minute, of 30 tokens each. DexScreener removes links, for example because of
 * fraud. A token whose pairs have no links gets `null`. Source: docs.dexscreener.com, API
 * reference, `GET /tokens/v1/{chainId}/{tokenAddresses}`.
 */
export function dexscreener(url: string): Lookup {
  return {
    name: "dexscreener",
    maxTokens: 30,
    serves: (group) => nameAt("dexscreener", group) !== undefined,
    url: (group, tokens) => `${url}/tokens/v1/${nameAt("dexscreener", group)}/${tokens.join(",")}`,
    read: (body, _tokens, group, unread = new Unread()) => {
      const facts = new Map<string, Facts>();
      for (const { baseToken, info } of readItems(Pair, body, "pairs", unread)) {
        const valid = <T>(schema: z.ZodType<T>, items: readonly unknown[] = []) =>
          items.flatMap((item) => {
            const link = schema.safeParse(item);
            if (link.success) unread.good("links");
            else unread.bad("links", reasonOf(link.error, item));
            return link.success ? [link.data] : [];
          });
        const socials = valid(Social, info?.socials);
        const link = (...types: readonly string[]) =>
          socials.find(({ type }) => types.includes(type.toLowerCase()))?.url ?? null;
        const socialData = {
          chat_url: link("telegram", "discord"),
          microblog_url: link("twitter", "x"),
          website_url: valid(Website, info?.websites)[0]?.url ?? null,
        };
        const token = normalizeAddress(group, baseToken.address);
        const hasLinks = Object.values(socialData).some((one) => one !== null);
        // All pairs of a token have the same links or none.
        if (hasLinks) facts.set(token, { socialData });
        else if (!facts.has(token)) facts.set(token, NO_LINKS);
      }
      return facts;
    },
    holdsMs: () => LINKS_HOLD_MS,
    gone: NO_LINKS,
  };
}
