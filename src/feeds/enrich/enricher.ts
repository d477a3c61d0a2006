import type { Profile } from "../../base/market/index.ts";
import type { ChainGroup } from "../../base/model/index.ts";
import type { ServiceReport } from "../../gateway/source/index.ts";

/** The services for facts about tokens. */
export const ENRICHERS = ["coingecko", "sourcify", "etherscan", "dexscreener"] as const;
export type EnricherName = (typeof ENRICHERS)[number];

export interface TokenRef {
  readonly group: ChainGroup;
  /** The address, as spelled by the feed. */
  readonly token: string;
}

/** Facts about a token. An absent field is unknown; `null`: there is none. */
export type Facts = Pick<Profile, "marketData" | "socialData" | "contractSource">;

export type OnFound = (token: TokenRef, facts: Facts) => void;

/** Looks up facts about tokens in the background: callers never wait for it. */
export interface Enricher {
  readonly name: EnricherName;
  /** Why lookups fail at present, for people; `undefined` while they work. */
  readonly trouble: string | undefined;
  report(): ServiceReport;
  /**
   * Records that the market has this token, and reports its cached facts at once. Call it regularly
   * while the token trades, because facts expire.
   */
  note(token: TokenRef): void;
  /** Works until the signal aborts. Never rejects; resolves when its cache is saved. */
  run(onFound: OnFound, signal: AbortSignal): Promise<void>;
}
