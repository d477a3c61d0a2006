import type { MarketGroup, Profile } from "../../market/index.ts";
import type { ServiceReport } from "../feed.ts";

/** The services that can be asked for facts about tokens. */
export const ENRICHERS = ["coingecko", "sourcify", "etherscan", "dexscreener"] as const;
export type EnricherName = (typeof ENRICHERS)[number];

/** The groups whose tokens have addresses. */
export type ChainGroup = Exclude<MarketGroup, "exchange">;

/** A token of a chain. */
export interface TokenRef {
  readonly group: ChainGroup;
  /** The address, as the feed writes it. */
  readonly token: string;
}

/** What can be said of a token; an absent field says nothing. */
export type Facts = Pick<Profile, "marketData" | "socialData" | "contractSource">;

/** Hears what was found out. */
export type OnFound = (token: TokenRef, facts: Facts) => void;

/** Finds out facts about tokens, in its own time: whoever tells it of tokens never waits for it. */
export interface Enricher {
  readonly name: EnricherName;
  /** Why it finds out nothing at present, for people; `undefined` while it does. */
  readonly trouble: string | undefined;
  /** How its service fares. */
  report(): ServiceReport;
  /** The market has this token. To be told again now and then while it is traded: facts age. */
  note(token: TokenRef): void;
  /** Works until the signal aborts. Never rejects; resolves when what it keeps is kept. */
  run(onFound: OnFound, signal: AbortSignal): Promise<void>;
}

/** Chain ids, and how each service calls the chains. */
export const CHAINS: Readonly<
  Record<ChainGroup, { readonly id: number; readonly coingecko: string; readonly dexscreener: string }>
> = {
  bsc: { id: 56, coingecko: "binance-smart-chain", dexscreener: "bsc" },
  matic: { id: 137, coingecko: "polygon-pos", dexscreener: "polygon" },
  avalanche: { id: 43_114, coingecko: "avalanche", dexscreener: "avalanche" },
};

/** All chains' groups. */
export const CHAIN_GROUPS = Object.keys(CHAINS) as readonly ChainGroup[];

/** One name for a token, whatever the case of its address. */
export function keyOf({ group, token }: TokenRef): string {
  return `${group}/${token.toLowerCase()}`;
}
