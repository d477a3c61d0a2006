import { BoundedMap } from "../../base/lib/bounded-map.ts";
import { clip, roundTo } from "../../base/lib/statistics.ts";
import { SECOND_MS } from "../../base/lib/time/time.ts";
import {
  type AnyFlare,
  type ContractSource,
  type DecimalString,
  type Explanation,
  type FinishCause,
  type Flare,
  type Locked,
  type NestedFlare,
  type Surge,
  TERM_NAMES,
  TERM_UNITS,
  type Term,
  type Token,
  whyText,
} from "../../base/model/index.ts";
import { shortAddress } from "../../base/model/token-key.ts";
import type { Measured } from "../detect/detector.ts";
import type { LockedShares } from "../detect/locked.ts";
import { liquidityText, listedSince } from "../detect/pools.ts";
import type { DetectorSettings } from "../settings.ts";
import { closeAt } from "../state/bucket-ring.ts";
import { neverFlaredId } from "../state/ids.ts";
import { countRecentTrades, recentSteps, type TokenState } from "../state/token-state.ts";

const MAX_PERCENT = 1e9;
const MAX_PUBLISHED = 1e9;
const DECIMALS = 4;

const VERIFIED: ContractSource = { status: "1", message: "OK" };
const UNVERIFIED: ContractSource = { status: "0", message: "NOTOK" };

const MAX_REMEMBERED = 4_096;
/** Caches timestamps, because every refresh formats the same ones and formatting is slow. */
const remembered = new BoundedMap<number, string>(MAX_REMEMBERED);

/** Formats event time as the API's timestamp. */
export function toTimestamp(atMs: number): string {
  return remembered.ensure(atMs, () => new Date(atMs).toISOString());
}

/** Renders the token's flare as of `atMs`, in the schema of its group. */
export function viewFlare(
  token: TokenState,
  id: string,
  startedMs: number,
  finishedMs: number | null,
  atMs: number,
): AnyFlare {
  const { group } = token;
  const flare: Flare = {
    ...viewFacts(token, id, atMs),
    started_trending_at: toTimestamp(startedMs),
    finished_trending_at: finishedMs === null ? null : toTimestamp(finishedMs),
  };
  if (group === "bsc") return flare;
  if (group !== "exchange") return { ...flare, group };
  const { address: _, ...onExchange } = flare.token;
  // A profile of an earlier version's checkpoint has no market.
  const { pair = null, exchange = null } = token.profile.market ?? {};
  return { ...flare, token: onExchange, group, pair, exchange };
}

/** Renders the token for charts and leaderboards as of `atMs`. */
export function viewNestedFlare(token: TokenState, atMs: number): NestedFlare {
  return {
    ...viewFacts(token, nestedId(token), atMs),
    upvote_site_data: null,
    relevant: token.isRelevant,
    last_relevant_at: toTimestamp(token.lastRelevantMs),
    last_irrelevant_at: toTimestamp(token.lastIrrelevantMs),
    canary: token.canary.isOn,
    canary_at: toTimestamp(token.canary.changedMs < 0 ? token.firstSeenMs : token.canary.changedMs),
  };
}

function nestedId(token: TokenState): string {
  if (token.publicFlareId !== null) return token.publicFlareId;
  token.nestedId ??= neverFlaredId(token.group, token.key);
  return token.nestedId;
}

/** Renders names, address and price. An unknown symbol becomes the shortened address. */
export function viewToken(token: TokenState): Token {
  const { profile } = token;
  const symbol = viewSymbol(token);
  return {
    name: profile.name ?? symbol,
    symbol,
    address: token.address,
    price: token.priceText,
    ...(token.priceAtMs < 0 ? {} : { price_at: toTimestamp(token.priceAtMs) }),
    created_at: toTimestamp(profile.createdAtMs ?? token.firstSeenMs),
  };
}

/** Returns the token's symbol; on the exchange always the feed's name. */
export function viewSymbol({ group, address, profile }: TokenState): string {
  if (group === "exchange") return address;
  return profile.symbol ?? shortAddress(address);
}

/** Returns the status of the token's contract: whether its verified source is known. */
export function viewSource(token: TokenState): ContractSource {
  return token.profile.contractSource === "verified" ? VERIFIED : UNVERIFIED;
}

/** What an explanation says besides the detector's numbers. */
interface ExplainedFacts {
  readonly age_s: number | null;
  readonly warnings: readonly string[];
  readonly liquidity: DecimalString;
  readonly surge?: Surge | undefined;
  readonly locked: LockedShares | null;
}

/** Renders the reading's terms that have a weight, rounded to prevent flicker, and the sentence. */
export function viewExplanation(
  { reading, form, startScore }: Measured,
  { warnings, liquidity, surge, age_s, locked }: ExplainedFacts,
  cause: FinishCause | null,
  atMs: number,
  settings: DetectorSettings,
): Explanation {
  const round = (value: number) => roundTo(clip(value, -MAX_PUBLISHED, MAX_PUBLISHED), DECIMALS);
  const numbers = {
    score: round(reading.score),
    threshold: round(startScore),
    finish_threshold: round(startScore * settings.finishShare),
    terms: TERM_NAMES.filter((name) => reading.terms[name].weight > 0).map((name): Term => {
      const { raw, usual, z, weight } = reading.terms[name];
      const isUnknown = usual === 0 && (name === "buyers" || name === "volume");
      return {
        name,
        unit: TERM_UNITS[name],
        raw: round(raw),
        usual: isUnknown ? null : round(usual),
        z: round(z),
        weight: round(weight),
      };
    }),
    warnings: [...warnings],
    finish_cause: cause,
  };
  const text = whyText(numbers, liquidity);
  const facts = { ...(surge ? { surge } : {}), age_s, locked: locked && viewLocked(locked) };
  return { at: toTimestamp(atMs), text, form, ...numbers, ...facts };
}

function viewLocked({ burned, held, untilMs }: LockedShares): Locked {
  const until = untilMs === null ? null : toTimestamp(untilMs);
  return { burned: roundTo(burned, DECIMALS), held: roundTo(held, DECIMALS), until };
}

/** Returns the token's age in whole seconds since its listing or creation; `null` if unknown. */
export function ageInSeconds(token: TokenState, atMs: number): number | null {
  const since = listedSince(token) ?? token.profile.createdAtMs;
  return since === null ? null : Math.max(0, Math.floor((atMs - since) / SECOND_MS));
}

function viewFacts(
  token: TokenState,
  id: string,
  atMs: number,
): Omit<Flare, "started_trending_at" | "finished_trending_at"> {
  const { forumPost, socialData, marketData } = token.profile;
  return {
    id,
    ...viewWindow(token, atMs),
    forum_post: forumPost,
    social_data: socialData,
    contract_source: viewSource(token),
    liquidity: liquidityText(token),
    market_data: marketData,
    token: viewToken(token),
  };
}

/**
 * Renders the last five minutes and the price change of the five before. They are counted in steps
 * of five seconds with trades, else of a minute.
 */
function viewWindow(token: TokenState, atMs: number) {
  const { ring, end, steps } = recentSteps(token, atMs);
  const now = token.price;
  const before = closeAt(ring, end - steps);
  const { buys, sells } = countRecentTrades(token, atMs);
  return {
    recent_price_change: percent(now, before),
    previous_price_change: percent(before, closeAt(ring, end - 2 * steps)),
    latest_buy_count: buys,
    latest_sell_count: sells,
  };
}

function percent(now: number, before: number): number {
  if (!(before > 0)) return 0;
  return roundTo(clip((now / before - 1) * 100, -100, MAX_PERCENT), 0);
}
