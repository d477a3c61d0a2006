import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/lib/time/time.ts";
import type { MarketGroup, Profile } from "../../../base/market/index.ts";
import type { Naming } from "./names.ts";
import type { Random } from "./random.ts";

/** Probability of each kind of fact, and how soon it becomes known. */
interface Publicity {
  /** Listed by the market-data aggregator. */
  readonly marketData: number;
  readonly social: number;
  readonly verified: number;
  /** Known to be unverified. Otherwise the status stays unknown. */
  readonly unverified: number;
  readonly forumPost: number;
  /** Facts become known within this time. */
  readonly withinMs: number;
}

/** An old token: most facts become known soon. */
export const ESTABLISHED: Publicity = {
  marketData: 0.75,
  social: 0.8,
  verified: 0.78,
  unverified: 0.07,
  forumPost: 0.12,
  withinMs: 5 * MINUTE_MS,
};
/** A pair of the exchange: it has no contract, and the forum's posts are about addresses. */
export const ON_EXCHANGE: Publicity = { ...ESTABLISHED, verified: 0, unverified: 0, forumPost: 0 };
/** A new token: few facts become known, and later. */
export const NEWCOMER: Publicity = {
  marketData: 0.12,
  social: 0.6,
  verified: 0.5,
  unverified: 0.25,
  forumPost: 0.08,
  withinMs: 20 * MINUTE_MS,
};
/** A rug or a honeypot: its source is mostly, though not always, known to be unverified. */
export const SWINDLE: Publicity = { ...NEWCOMER, marketData: 0.03, verified: 0.2, unverified: 0.6 };

export interface Subject {
  readonly group: MarketGroup;
  readonly token: string;
  readonly naming: Naming;
  readonly createdAtMs: number;
  /** Where a token of the group `exchange` trades. */
  readonly exchange?: string;
}

export function firstProfile(subject: Subject, at: number, quote = false): Profile {
  const { group, token, naming } = subject;
  return {
    kind: "profile",
    at,
    group,
    token,
    symbol: naming.symbol,
    name: naming.name,
    createdAt: subject.createdAtMs,
    quote,
    ...(subject.exchange ? { market: { exchange: subject.exchange, pair: `${token}/USDT` } } : {}),
  };
}

/**
 * Draws the facts that enrichers find later, sorted by time. Some are `null`, some stay unknown.
 */
export function laterProfiles(
  subject: Subject,
  nowMs: number,
  publicity: Publicity,
  random: Random,
): readonly Profile[] {
  const found: Profile[] = [];
  const { group, token } = subject;
  const add = (facts: Partial<Profile>) => {
    const at = nowMs + SECOND_MS + Math.floor(random.unit() * publicity.withinMs);
    found.push({ ...facts, kind: "profile", at, group, token });
  };
  const slug = subject.naming.name.toLowerCase().replaceAll(" ", "-");
  const isListed = random.chance(publicity.marketData);
  add({ marketData: isListed ? marketDataOf(slug, subject.naming.name, random) : null });
  if (random.chance(publicity.social)) add({ socialData: socialDataOf(slug, random) });
  else if (random.chance(0.5)) add({ socialData: null });
  const source = random.unit();
  if (source < publicity.verified) add({ contractSource: "verified" });
  else if (source < publicity.verified + publicity.unverified) add({ contractSource: "unverified" });
  if (random.chance(publicity.forumPost)) {
    add({ forumPost: forumPostOf(subject, nowMs - Math.floor(random.unit() * 48 * HOUR_MS), random) });
  }
  return found.sort((one, other) => one.at - other.at);
}

function marketDataOf(slug: string, name: string, random: Random): Profile["marketData"] {
  return {
    market_id: slug,
    image_url: random.chance(0.85) ? `https://images.example/${slug}.png` : null,
    name: random.chance(0.92) ? name : null,
  };
}

function socialDataOf(slug: string, random: Random): Profile["socialData"] {
  const link = (url: string, probability: number) => (random.chance(probability) ? url : null);
  return {
    chat_url: link(`https://chat.example/${slug}`, 0.75),
    microblog_url: link(`https://microblog.example/${slug}`, 0.7),
    website_url: link(`https://${slug}.example/`, 0.65),
  };
}

export function forumPostOf(
  subject: Subject,
  postedMs: number,
  random: Random,
): NonNullable<Profile["forumPost"]> {
  const { name } = subject.naming;
  const title = random.pick([
    `What do we think of ${name}?`,
    `${name} just woke up`,
    `I read the contract of ${name} so that you need not`,
    `Community call of ${name}, notes inside`,
  ]);
  return {
    position: 1 + random.below(50),
    address: subject.token,
    url: `https://forum.example/posts/${subject.token.slice(2, 10)}`,
    title,
    upvotes: Math.floor(random.logNormal(20, 1.4)),
    posted: Math.max(0, postedMs),
  };
}
