import type { z } from "zod";
import { jsonEqual } from "../../base/lib/json-equal.ts";
import { fieldOf, isRecord, sanitize } from "../../base/lib/untrusted-json.ts";
import {
  EMPTY_SNAPSHOT,
  Explanation,
  GROUP_FACTS,
  groupOfChannel,
  keyOf,
  type ListItem,
  Outcome,
  type Snapshot,
  TERM_UNITS,
  TermName,
  Timestamp,
  whyText,
} from "../../base/model/index.ts";
import {
  BSC_FLARE_CHANNELS,
  LIST_CHANNELS,
  listOf,
  SPEC_CHANNELS,
  type SpecChannel,
  type View,
} from "../../base/protocol/index.ts";
import { issueOf, readList } from "./upstream-list.ts";
import type { UpstreamReports } from "./upstream-reports.ts";

/** The four resources that every service with this API offers. */
export const RESOURCES = ["flares", "newest", "charts", "leaderboards"] as const;
export type Resource = (typeof RESOURCES)[number];

/** The validated resources of one response. */
export type Resources = { readonly [R in keyof Snapshot]?: Snapshot[R] };

/**
 * Returns why a body cannot be `flares`. Only the `first` must have all three lists; later ones
 * need one.
 */
export function mismatchOfFlares(flares: unknown, first: boolean): string | undefined {
  const broken = BSC_FLARE_CHANNELS.map((channel) => LIST_CHANNELS[channel][1]).filter(
    (name) => !Array.isArray(fieldOf(flares, name)),
  );
  if (broken.length === 0 || (!first && broken.length < BSC_FLARE_CHANNELS.length)) return undefined;
  return `returned unexpected JSON: flares.${broken[0]} is not an array`;
}

/**
 * Reads one resource. Unusable lists and items stay as in `before`. If nothing changed, reuses the
 * object of `before`. Optional charts may be absent, and are then empty.
 */
export function readResource(
  resource: Resource,
  body: unknown,
  before: Snapshot | undefined,
  reports: UpstreamReports,
): Resources {
  return buildResource(resource, before ?? EMPTY_SNAPSHOT, (channel, previous) =>
    readList(channel, rawList(channel, body), previous, reports),
  );
}

/** Builds one resource. Reuses unchanged lists and resources of `before`. */
export function buildResource(
  resource: Resource,
  before: Snapshot,
  listFor: (channel: SpecChannel, previous: readonly ListItem[]) => readonly ListItem[],
): Resources {
  // Other services have no additional groups.
  const lists: Record<string, unknown> = { ...before[resource] };
  let same = true;
  for (const channel of SPEC_CHANNELS) {
    const [owner, name] = LIST_CHANNELS[channel];
    if (owner !== resource) continue;
    const previous = listOf(before, channel);
    const list = listFor(channel, previous);
    const isUnchanged =
      list.length === previous.length && list.every((item, index) => item === previous[index]);
    lists[name] = isUnchanged ? previous : list;
    same &&= isUnchanged;
  }
  return asResources({ [resource]: same ? before[resource] : lists });
}

function rawList(channel: SpecChannel, body: unknown): unknown {
  const raw = fieldOf(body, LIST_CHANNELS[channel][1]);
  const isOptional = channel.startsWith("charts.") && GROUP_FACTS[groupOfChannel(channel)].optionalChart;
  return raw === undefined && isOptional && isRecord(body) ? [] : raw;
}

/** Reads explanations and outcomes of listed flares; an invalid one stays as it was before. */
export function readNotes(
  body: unknown,
  flares: Resources["flares"],
  before: Snapshot | undefined,
  reports: UpstreamReports,
): Pick<Snapshot, "explanations" | "outcomes"> {
  const { explanations, outcomes } = before ?? EMPTY_SNAPSHOT;
  const view = { explanations: {}, ...(flares ? { flares } : {}) };
  const ids = idsOf(view);
  const listed = BSC_FLARE_CHANNELS.flatMap((channel) => listOf(view, channel));
  const flareOf = new Map(listed.map((flare) => [keyOf(flare), flare]));
  const complete = (why: unknown, id: string) => withText(why, fieldOf(flareOf.get(id), "liquidity"));
  return {
    explanations: readRecord("explanations", Explanation, body, ids.all, explanations, reports, complete),
    outcomes: readRecord("outcomes", Outcome, body, ids.finished, outcomes, reports),
  };
}

/**
 * Returns the ids of all listed flares, which can have explanations, and of the finished ones,
 * which can have outcomes.
 */
export function idsOf(view: View) {
  const all = new Set(BSC_FLARE_CHANNELS.flatMap((channel) => listOf(view, channel).map(keyOf)));
  return { all, finished: new Set(listOf(view, "flares.finished").map(keyOf)) };
}

function readRecord<T>(
  list: "explanations" | "outcomes",
  schema: z.ZodType<T>,
  body: unknown,
  ids: ReadonlySet<string>,
  previous: Readonly<Record<string, T>>,
  reports: UpstreamReports,
  complete: (value: unknown, id: string) => unknown = (value) => value,
): Record<string, T> {
  const raw = fieldOf(body, list);
  // Other services, and older versions of this one, measure no outcomes.
  const isAbsent = list === "outcomes" && raw === undefined;
  const source = isRecord(raw) ? raw : isAbsent ? {} : previous;
  if (source === previous) reports.add("invalidLists", { list, reason: "is not an object", action: "kept" });
  const read: Record<string, T> = {};
  for (const id of ids) {
    if (!Object.hasOwn(source, id)) continue;
    const value = readValue(schema, { list, key: id }, complete(source[id], id), previous[id], reports);
    if (value !== undefined) read[id] = value;
  }
  return reuseRecord(read, previous);
}

/** Returns `previous` if `read` has the same values. */
export function reuseRecord<T>(read: Record<string, T>, previous: Record<string, T>): Record<string, T> {
  const same = Object.keys(read).every((id) => read[id] === previous[id]);
  return same && Object.keys(read).length === Object.keys(previous).length ? previous : read;
}

/** Adds the sentence and the units of terms to an explanation without a sentence. */
function withText(raw: unknown, liquidity: unknown): unknown {
  if (!isRecord(raw) || raw.text !== undefined || !Array.isArray(raw.terms)) return raw;
  const terms = raw.terms.map((term: unknown) => {
    const { data: name } = TermName.safeParse(fieldOf(term, "name"));
    return isRecord(term) && name ? { unit: TERM_UNITS[name], usual: null, ...term } : term;
  });
  const { data: numbers } = Explanation.omit({ text: true }).safeParse({ ...raw, terms });
  return numbers ? { ...raw, text: whyText(numbers, String(liquidity)), terms } : raw;
}

function readValue<T>(
  schema: z.ZodType<T>,
  item: { readonly list: "explanations" | "outcomes"; readonly key: string },
  raw: unknown,
  previous: T | undefined,
  reports: UpstreamReports,
): T | undefined {
  if (previous && jsonEqual(previous, raw)) return previous;
  const unfit = sanitize(raw);
  if (previous && !unfit && jsonEqual(previous, raw)) return previous;
  const issue = unfit ? { path: "", reason: unfit } : issueOf(schema, raw);
  if (!issue) return raw as T;
  reports.add("invalidItems", { ...item, ...issue, action: previous ? "kept" : "dropped" });
  return previous;
}

/** Reads `observed_at` in milliseconds since 1970 UTC. Reports an invalid time. */
export function readObservedAtMs(raw: unknown, reports: UpstreamReports): number | undefined {
  const text = Timestamp.safeParse(raw).data;
  const atMs = text === undefined ? Number.NaN : Date.parse(text);
  if (!Number.isNaN(atMs)) return atMs;
  reports.add("invalidLists", { list: "observed_at", reason: "is not a UTC time", action: "kept" });
  return undefined;
}

export function mergeResources(all: readonly Resources[]): Resources {
  const merged: Resources = {};
  for (const resources of all) Object.assign(merged, resources);
  return merged;
}

/** Completes the resources to a snapshot. Returns `before` itself if nothing changed. */
export function completeSnapshot(all: readonly Resources[], before: Snapshot | undefined): Snapshot {
  const joined: Snapshot = { ...EMPTY_SNAPSHOT, ...mergeResources(all) };
  const same = before && RESOURCES.every((resource) => joined[resource] === before[resource]);
  const isSame = joined.explanations === before?.explanations && joined.outcomes === before.outcomes;
  return same && isSame ? before : joined;
}

function asResources(checked: Record<string, unknown>): Resources {
  return checked as Resources;
}
