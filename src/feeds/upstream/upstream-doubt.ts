import { keyOf, type ListItem, type Snapshot } from "../../base/model/index.ts";
import {
  BSC_FLARE_CHANNELS,
  LIST_CHANNELS,
  listOf,
  SPEC_CHANNELS,
  type SpecChannel,
} from "../../base/protocol/index.ts";
import { ABSENT_MS, Absences } from "./upstream-absence.ts";
import { withKnownIds } from "./upstream-identity.ts";
import { limitsOf } from "./upstream-list.ts";
import {
  buildResource,
  completeSnapshot,
  idsOf,
  RESOURCES,
  type Resource,
  reuseRecord,
} from "./upstream-resources.ts";

/** Minimum length of an absence in doubted responses, and of any absence of a finished flare. */
const DOUBTED_MS = 60_000;
/** Fewer items than this may plausibly vanish at once. */
const MIN_SUSPICIOUS = 4;
/** A larger share of a list does not vanish at once without a reason. */
const SUSPICIOUS_SHARE = 0.1;
/** Longest time for which the source stays doubted after the last doubtful response. */
const MAX_LINGER_MS = 30_000;
/** By the specification, `newest` contains tokens listed within this time. */
const NEWEST_MS = 15 * 60_000;

/** A validated response of an upstream, with its circumstances. */
interface UpstreamAnswer {
  readonly snapshot: Snapshot;
  readonly observedAtMs: number;
  /** Resources in this response. The others are copies of earlier ones. */
  readonly answered: readonly Resource[];
  /** Monotonic time. */
  readonly nowMs: number;
}

/** The state derived from a response. */
interface Belief {
  readonly snapshot: Snapshot;
  /** Whether the response lacks items in an implausible way. */
  readonly isDoubted: boolean;
}

type Lacking = Readonly<Record<SpecChannel, readonly string[]>>;

/**
 * Decides how much of an upstream's responses to accept. Listed items count at once. Missing ones
 * stay until several responses lacked them for {@link ABSENT_MS}, because an end cannot be undone.
 * An explained absence counts at once: a running flare is listed as finished, a flare in `free` has
 * warnings, or a listing is older than 15 minutes.
 *
 * A response is doubted if it lacks many items of a list without explanation, or if the lists that
 * it empties lack at least {@link MIN_SUSPICIOUS} such items in all. Absences must then last a
 * minute. Of a chart or leaderboard, only the absence of the whole is tracked.
 */
export class UpstreamDoubt {
  readonly #absences: Readonly<Record<SpecChannel, Absences>> = byChannel(() => new Absences());
  /** The doubted lists, and when they were last doubtful. */
  #doubted: ReadonlySet<SpecChannel> = new Set();
  #doubtedAtMs = 0;

  /** Returns the state after `before`, the previous one. The first response is accepted as is. */
  believe(before: Snapshot | undefined, answer: UpstreamAnswer): Belief {
    if (!before) return { snapshot: answer.snapshot, isDoubted: false };
    const { nowMs, answered } = answer;
    const current = withoutRevivals(withKnownIds(answer.snapshot, before), before);
    const lacking = byChannel((channel) =>
      this.#absences[channel].note({
        before: keysOf(before, channel),
        listed: new Set(keysOf(current, channel)),
        nowMs,
        isNew: answered.includes(LIST_CHANNELS[channel][0]),
        isExplained: explainer(channel, before, current, answer.observedAtMs),
      }),
    );
    const doubtful = doubtfulChannels(before, current, lacking);
    const expired = this.#expireAbsences(lacking, doubtful.length > 0, nowMs);
    if (this.#absences["flares.pro"].isPatient(nowMs)) doubtful.push("flares.pro");
    const isDoubted = doubtful.length > 0;
    if (isDoubted) {
      this.#doubted = new Set(this.reason(nowMs) ? [...this.#doubted, ...doubtful] : doubtful);
      this.#doubtedAtMs = nowMs;
    }
    const retained = byChannel(
      (channel) => new Set(lacking[channel].filter((key) => !expired[channel].has(key))),
    );
    return { snapshot: withRetained(current, before, retained), isDoubted };
  }

  /** Returns why recent responses are not fully accepted; `undefined` if they are. */
  reason(nowMs: number): string | undefined {
    if (this.#doubted.size === 0) return undefined;
    const patienceMs = [...this.#doubted].map((channel) => this.#absences[channel].patienceMs(nowMs));
    const lingerMs = Math.min(MAX_LINGER_MS, Math.max(ABSENT_MS, ...patienceMs));
    if (nowMs - this.#doubtedAtMs > lingerMs) return undefined;
    const names = SPEC_CHANNELS.filter((channel) => this.#doubted.has(channel)).join(", ");
    return `the upstream's responses lack items of ${names} without a reason; the missing items are retained for now`;
  }

  #expireAbsences(lacking: Lacking, isDoubted: boolean, nowMs: number) {
    const expired = byChannel((channel) => {
      // Nothing depends on when a finished flare leaves; its return would look like another finish.
      const needsLong = isDoubted || channel === "flares.finished";
      return this.#absences[channel].expire(nowMs, needsLong ? DOUBTED_MS : ABSENT_MS);
    });
    // A flare that ended in `pro` has ended in `free` too.
    const ended = lacking["flares.free"].filter((id) => expired["flares.pro"].has(id));
    return { ...expired, "flares.free": new Set([...expired["flares.free"], ...ended]) };
  }
}

function byChannel<T>(make: (channel: SpecChannel) => T): Readonly<Record<SpecChannel, T>> {
  return Object.fromEntries(SPEC_CHANNELS.map((channel) => [channel, make(channel)])) as Record<
    SpecChannel,
    T
  >;
}

/** Whether items of a list displace each other. */
function isRanking(channel: SpecChannel): boolean {
  return channel.startsWith("charts.") || channel.startsWith("leaderboards.");
}

/** The keys whose absence is tracked: each item, or a ranking as a whole. */
function keysOf(snapshot: Snapshot, channel: SpecChannel): readonly string[] {
  const list = listOf(snapshot, channel);
  if (isRanking(channel)) return list.length === 0 ? [] : [channel];
  return list.map(keyOf);
}

/** Removes flares listed as running after their end: a response or replica may be outdated. */
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
  channel: SpecChannel,
  before: Snapshot,
  answer: Snapshot,
  observedAtMs: number,
): (key: string) => boolean {
  if (channel === "newest.bsc") {
    const listedAt = new Map(before.newest.bsc.map(({ id, listed_at }) => [id, Date.parse(listed_at)]));
    return (id) => (listedAt.get(id) ?? observedAtMs) + NEWEST_MS <= observedAtMs;
  }
  if (channel !== "flares.pro" && channel !== "flares.free") return () => false;
  const finished = new Set(answer.flares.finished_trending.map(keyOf));
  const isWarned = (id: string) => (answer.explanations[id]?.warnings.length ?? 0) > 0;
  return (id) => finished.has(id) || (channel === "flares.free" && isWarned(id));
}

/** Returns the lists that lack enough items for the response to be doubted. */
function doubtfulChannels(before: Snapshot, answer: Snapshot, lacking: Lacking): SpecChannel[] {
  const count = (channel: SpecChannel) => {
    const all = listOf(before, channel).length;
    return isRanking(channel) && lacking[channel].length > 0 ? all : lacking[channel].length;
  };
  const isEmptied = (channel: SpecChannel) => count(channel) > 0 && listOf(answer, channel).length === 0;
  const emptied = SPEC_CHANNELS.filter(isEmptied);
  const emptiedItems = emptied.reduce((sum, channel) => sum + count(channel), 0);
  return SPEC_CHANNELS.filter((channel) => {
    if (isEmptied(channel)) return emptiedItems >= MIN_SUSPICIOUS;
    if (count(channel) < MIN_SUSPICIOUS) return false;
    if (count(channel) <= SUSPICIOUS_SHARE * listOf(before, channel).length) return false;
    return channel !== "flares.finished" || !areOldest(lacking[channel], before, answer);
  });
}

/**
 * Returns whether none of these flares finished later than any that stays. Such flares may leave
 * together.
 */
function areOldest(ids: readonly string[], before: Snapshot, answer: Snapshot): boolean {
  const lacking = new Set(ids);
  const timesOf = (flares: Snapshot["flares"]["pro"]) =>
    flares.map(({ finished_trending_at }) => Date.parse(finished_trending_at ?? ""));
  const left = timesOf(before.flares.finished_trending.filter(({ id }) => lacking.has(id)));
  return Math.max(...left) <= Math.min(...timesOf(answer.flares.finished_trending));
}

function withRetained(
  answer: Snapshot,
  before: Snapshot,
  retained: Readonly<Record<SpecChannel, ReadonlySet<string>>>,
): Snapshot {
  const resources = RESOURCES.map((resource) =>
    buildResource(resource, before, (channel, was) => {
      const is = listOf(answer, channel);
      if (retained[channel].size === 0) return is;
      return isRanking(channel)
        ? was
        : insertRetained(is, was, retained[channel]).slice(0, limitsOf(channel).maxItems);
    }),
  );
  const snapshot = completeSnapshot(resources, undefined);
  return completeSnapshot([snapshot, notesOf(snapshot, answer, before, retained)], before);
}

/** Inserts each retained item after the item that it followed before. */
function insertRetained(
  is: readonly ListItem[],
  was: readonly ListItem[],
  retained: ReadonlySet<string>,
): ListItem[] {
  const listed = new Set(is.map(keyOf));
  const first: ListItem[] = [];
  const after = new Map<string, ListItem[]>();
  let followers = first;
  for (const item of was) {
    const key = keyOf(item);
    if (listed.has(key)) {
      followers = [];
      after.set(key, followers);
    } else if (retained.has(key)) followers.push(item);
  }
  return [...first, ...is.flatMap((item) => [item, ...(after.get(keyOf(item)) ?? [])])];
}

/** Takes explanations and outcomes from the response, or retained flares' previous ones. */
function notesOf(
  believed: Snapshot,
  answer: Snapshot,
  before: Snapshot,
  retained: Readonly<Record<SpecChannel, ReadonlySet<string>>>,
): Pick<Snapshot, "explanations" | "outcomes"> {
  const ids = idsOf(believed);
  const isRetained = (id: string) => BSC_FLARE_CHANNELS.some((channel) => retained[channel].has(id));
  const pick = <T>(of: ReadonlySet<string>, now: Record<string, T>, was: Record<string, T>) => {
    const read: Record<string, T> = {};
    for (const id of of) {
      const value = now[id] ?? (isRetained(id) ? was[id] : undefined);
      if (value !== undefined) read[id] = value;
    }
    return reuseRecord(read, was);
  };
  return {
    explanations: pick(ids.all, answer.explanations, before.explanations),
    outcomes: pick(ids.finished, answer.outcomes, before.outcomes),
  };
}
