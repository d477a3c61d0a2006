import { assertNever } from "../../lib/assert-never.ts";
import { type Explanations, keyOf, type ListItem, type Snapshot } from "../../model/index.ts";
import {
  FLARE_CHANNELS,
  LIST_CHANNEL_NAMES,
  LIST_CHANNELS,
  type ListChannel,
  listOf,
} from "../../protocol/index.ts";
import { ABSENT_MS, Absences } from "./upstream-absence.ts";
import { withKnownIds } from "./upstream-identity.ts";
import { UPSTREAM_LISTS } from "./upstream-list.ts";
import { buildResource, joinParts, RESOURCES, type Resource, reuseExplanations } from "./upstream-part.ts";

/** An absence in an answer that is doubted lasts at least so long before it counts. */
const DOUBTED_MS = 60_000;
/** With fewer items than this, all of them may well go at once. */
const MIN_SUSPICIOUS = 4;
/** More than this share of a list does not go at once without a reason. */
const SUSPICIOUS_SHARE = 0.1;
/** Longest time after the last doubtful answer for which the source is still doubted. */
const MAX_LINGER_MS = 30_000;
/** `newest` has the tokens that were listed within this time, by the specification. */
const NEWEST_MS = 15 * 60_000;

/** An answer of an upstream, checked, and the circumstances in which it came. */
export interface UpstreamAnswer {
  readonly snapshot: Snapshot;
  /** Event time of the answer. */
  readonly observedAtMs: number;
  /** The resources that were answered this time; the others are copies of earlier answers. */
  readonly heard: readonly Resource[];
  /** Monotonic. */
  readonly nowMs: number;
}

/** What is made of an answer. */
export interface Belief {
  readonly snapshot: Snapshot;
  /** True where the answer lacks what does not go without a reason. */
  readonly isDoubted: boolean;
}

type Lacking = Readonly<Record<ListChannel, readonly string[]>>;

/**
 * Decides what of an upstream's answers is believed. What an answer lists is believed at once; what it no longer lists stays until
 * several answers in a row have lacked it for {@link ABSENT_MS}, because an end cannot be taken back and a delay is cheap. An absence with an
 * explanation counts at once: a flare that is listed as finished, a listing that is older than 15 minutes. An answer is doubted when it lacks, without an
 * explanation, many items of a list at once, or all of several; then absences must last for a minute. A chart and a leaderboard stay
 * whole while answers lack all of it; otherwise they are as the answer has them, because tokens displace each other there.
 */
export class UpstreamDoubt {
  readonly #absences: Readonly<Record<ListChannel, Absences>> = byChannel(() => new Absences());
  /** The lists that are doubted, and when that was last seen. */
  #doubted: ReadonlySet<ListChannel> = new Set();
  #doubtedAtMs = 0;

  /** Returns the state that follows `before`, which was believed last; at first the answer itself. */
  believe(before: Snapshot | undefined, answer: UpstreamAnswer): Belief {
    if (!before) return { snapshot: answer.snapshot, isDoubted: false };
    const { nowMs, heard } = answer;
    const stated = withoutRevivals(withKnownIds(answer.snapshot, before), before);
    const lacking = byChannel((channel) =>
      this.#absences[channel].note({
        before: keysOf(before, channel),
        listed: new Set(keysOf(stated, channel)),
        nowMs,
        isNew: heard.includes(LIST_CHANNELS[channel][0]),
        isExplained: explainer(channel, before, stated, answer.observedAtMs),
      }),
    );
    const doubtful = doubtfulChannels(before, stated, lacking);
    const gone = this.#closeGradually(lacking, doubtful.length > 0, nowMs);
    if (this.#absences["flares.pro"].isPatient(nowMs)) doubtful.push("flares.pro");
    const isDoubted = doubtful.length > 0;
    if (isDoubted) {
      this.#doubted = new Set(this.reason(nowMs) ? [...this.#doubted, ...doubtful] : doubtful);
      this.#doubtedAtMs = nowMs;
    }
    const held = byChannel((channel) => new Set(lacking[channel].filter((key) => !gone[channel].has(key))));
    return { snapshot: withHeld(stated, before, held), isDoubted };
  }

  /** Why the latest answers are not believed in full, or were not a moment ago; `undefined` while they are. */
  reason(nowMs: number): string | undefined {
    if (this.#doubted.size === 0) return undefined;
    const patienceMs = [...this.#doubted].map((channel) => this.#absences[channel].patienceMs(nowMs));
    const lingerMs = Math.min(MAX_LINGER_MS, Math.max(ABSENT_MS, ...patienceMs));
    if (nowMs - this.#doubtedAtMs > lingerMs) return undefined;
    const names = LIST_CHANNEL_NAMES.filter((channel) => this.#doubted.has(channel)).join(", ");
    return `the upstream's answers lack items of ${names} and do not say why; what they lack is kept for now`;
  }

  #closeGradually(lacking: Lacking, isDoubted: boolean, nowMs: number) {
    const gone = byChannel((channel) => {
      // Nothing depends on when a finished flare leaves its list, and its return would look like another finish.
      const needsLong = isDoubted || channel === "flares.finished";
      return this.#absences[channel].closeGradually(nowMs, needsLong ? DOUBTED_MS : ABSENT_MS);
    });
    // A flare that has ended in one list has ended in the other.
    const ended = lacking["flares.free"].filter((id) => gone["flares.pro"].has(id));
    return { ...gone, "flares.free": new Set([...gone["flares.free"], ...ended]) };
  }
}

function byChannel<T>(make: (channel: ListChannel) => T): Readonly<Record<ListChannel, T>> {
  return Object.fromEntries(LIST_CHANNEL_NAMES.map((channel) => [channel, make(channel)])) as Record<
    ListChannel,
    T
  >;
}

/** True for a list of which an item can go because another one displaces it. */
function isRanking(channel: ListChannel): boolean {
  return channel.startsWith("charts.") || channel.startsWith("leaderboards.");
}

/** What of a list may be absent: each item; of a ranking, the whole. */
function keysOf(snapshot: Snapshot, channel: ListChannel): readonly string[] {
  const list = listOf(snapshot, channel);
  if (isRanking(channel)) return list.length === 0 ? [] : [channel];
  return list.map(keyOf);
}

/** The answer without the flares that it lists as running although they have ended: one answer or one replica may be behind. */
function withoutRevivals(answer: Snapshot, before: Snapshot): Snapshot {
  const { free, pro, finished_trending } = answer.flares;
  const running = new Set([...before.flares.pro, ...before.flares.free].map(keyOf));
  const ended = new Set(before.flares.finished_trending.map(keyOf).filter((id) => !running.has(id)));
  const hasEnded = ({ id }: { readonly id: string }) => ended.has(id);
  if (!pro.some(hasEnded) && !free.some(hasEnded)) return answer;
  const stillRunning = (flares: typeof pro) => flares.filter((flare) => !hasEnded(flare));
  return { ...answer, flares: { free: stillRunning(free), pro: stillRunning(pro), finished_trending } };
}

function explainer(
  channel: ListChannel,
  before: Snapshot,
  answer: Snapshot,
  observedAtMs: number,
): (key: string) => boolean {
  const finished = new Set(answer.flares.finished_trending.map(keyOf));
  switch (channel) {
    case "flares.pro":
      return (id) => finished.has(id);
    case "flares.free":
      return (id) => finished.has(id) || (answer.explanations[id]?.warnings.length ?? 0) > 0;
    case "newest.bsc": {
      const listedAt = new Map(before.newest.bsc.map(({ id, listed_at }) => [id, Date.parse(listed_at)]));
      return (id) => (listedAt.get(id) ?? observedAtMs) + NEWEST_MS <= observedAtMs;
    }
    case "flares.finished":
    case "charts.bsc":
    case "charts.exchange":
    case "charts.matic":
    case "charts.avalanche":
    case "leaderboards.bsc":
    case "leaderboards.exchange":
    case "leaderboards.matic":
    case "leaderboards.avalanche":
      return () => false;
    default:
      return assertNever(channel);
  }
}

/** The lists that lack so much that the answer is doubted. */
function doubtfulChannels(before: Snapshot, answer: Snapshot, lacking: Lacking): ListChannel[] {
  const count = (channel: ListChannel) => {
    const all = listOf(before, channel).length;
    return isRanking(channel) && lacking[channel].length > 0 ? all : lacking[channel].length;
  };
  const isEmptied = (channel: ListChannel) => count(channel) > 0 && listOf(answer, channel).length === 0;
  const emptied = LIST_CHANNEL_NAMES.filter(isEmptied);
  const emptiedItems = emptied.reduce((sum, channel) => sum + count(channel), 0);
  return LIST_CHANNEL_NAMES.filter((channel) => {
    if (isEmptied(channel)) return emptiedItems >= MIN_SUSPICIOUS;
    if (count(channel) < MIN_SUSPICIOUS) return false;
    if (count(channel) <= SUSPICIOUS_SHARE * listOf(before, channel).length) return false;
    return channel !== "flares.finished" || !areOldest(lacking[channel], before, answer);
  });
}

/** True where these finished flares are those that finished first, which leave such a list together. */
function areOldest(ids: readonly string[], before: Snapshot, answer: Snapshot): boolean {
  const lacking = new Set(ids);
  const timesOf = (flares: Snapshot["flares"]["pro"]) =>
    flares.map(({ finished_trending_at }) => Date.parse(finished_trending_at ?? ""));
  const left = timesOf(before.flares.finished_trending.filter(({ id }) => lacking.has(id)));
  return Math.max(...left) <= Math.min(...timesOf(answer.flares.finished_trending));
}

function withHeld(
  answer: Snapshot,
  before: Snapshot,
  held: Readonly<Record<ListChannel, ReadonlySet<string>>>,
): Snapshot {
  const parts = RESOURCES.map((resource) =>
    buildResource(resource, before, (channel, was) => {
      const is = listOf(answer, channel);
      if (held[channel].size === 0) return is;
      return isRanking(channel)
        ? was
        : insertHeld(is, was, held[channel]).slice(0, UPSTREAM_LISTS[channel].most);
    }),
  );
  const snapshot = joinParts(parts, undefined);
  return joinParts([snapshot, { explanations: explanationsOf(snapshot, answer, before, held) }], before);
}

/** The answer's items in its order, and each item that is held behind the one that it stood behind. */
function insertHeld(
  is: readonly ListItem[],
  was: readonly ListItem[],
  held: ReadonlySet<string>,
): ListItem[] {
  const listed = new Set(is.map(keyOf));
  const first: ListItem[] = [];
  const behind = new Map<string, ListItem[]>();
  let followers = first;
  for (const item of was) {
    const key = keyOf(item);
    if (listed.has(key)) {
      followers = [];
      behind.set(key, followers);
    } else if (held.has(key)) followers.push(item);
  }
  return [...first, ...is.flatMap((item) => [item, ...(behind.get(keyOf(item)) ?? [])])];
}

/** Those of the answer; of a flare that is held in a list, where the answer has none, the one before. */
function explanationsOf(
  believed: Snapshot,
  answer: Snapshot,
  before: Snapshot,
  held: Readonly<Record<ListChannel, ReadonlySet<string>>>,
): Explanations {
  const read: Explanations = {};
  for (const id of new Set(FLARE_CHANNELS.flatMap((channel) => listOf(believed, channel).map(keyOf)))) {
    const isHeld = FLARE_CHANNELS.some((channel) => held[channel].has(id));
    const why = answer.explanations[id] ?? (isHeld ? before.explanations[id] : undefined);
    if (why) read[id] = why;
  }
  return reuseExplanations(read, before.explanations);
}
