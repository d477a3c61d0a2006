import { jsonEqual } from "../../lib/json-equal.ts";
import {
  EMPTY_SNAPSHOT,
  Explanation,
  type Explanations,
  keyOf,
  type ListItem,
  type Snapshot,
  TERM_UNITS,
  TermName,
  Timestamp,
  whyText,
} from "../../model/index.ts";
import {
  FLARE_CHANNELS,
  LIST_CHANNEL_NAMES,
  LIST_CHANNELS,
  type ListChannel,
  listOf,
} from "../../protocol/index.ts";
import { fieldOf, isRecord, sanitize } from "./upstream-json.ts";
import { faultOf, readList } from "./upstream-list.ts";
import type { UpstreamReports } from "./upstream-reports.ts";

/** The four resources that every service with this API offers. */
export const RESOURCES = ["flares", "newest", "charts", "leaderboards"] as const;
export type Resource = (typeof RESOURCES)[number];

/** The validated resources of one response. */
export type Part = { readonly [R in keyof Snapshot]?: Snapshot[R] };

/** Returns why a body cannot be `flares`. Only the `first` must have all three lists. */
export function misfitOfFlares(flares: unknown, first: boolean): string | undefined {
  const broken = FLARE_CHANNELS.map((channel) => LIST_CHANNELS[channel][1]).filter(
    (name) => !Array.isArray(fieldOf(flares, name)),
  );
  if (broken.length === 0 || (!first && broken.length < FLARE_CHANNELS.length)) return undefined;
  return `returned unexpected JSON: flares.${broken[0]} is not an array`;
}

/**
 * Reads one resource. Unusable lists and items stay as in `before`, whose own object is returned
 * without a change. Charts of avalanche may be absent, and are then empty.
 */
export function readResource(
  resource: Resource,
  body: unknown,
  before: Snapshot | undefined,
  reports: UpstreamReports,
): Part {
  return buildResource(resource, before ?? EMPTY_SNAPSHOT, (channel, previous) =>
    readList(channel, rawList(channel, body), previous, reports),
  );
}

/** Builds one resource. Unchanged lists and resources are the objects of `before`. */
export function buildResource(
  resource: Resource,
  before: Snapshot,
  listFor: (channel: ListChannel, previous: readonly ListItem[]) => readonly ListItem[],
): Part {
  const lists: Record<string, unknown> = {};
  let same = true;
  for (const channel of LIST_CHANNEL_NAMES) {
    const [owner, name] = LIST_CHANNELS[channel];
    if (owner !== resource) continue;
    const previous = listOf(before, channel);
    const list = listFor(channel, previous);
    const isUnchanged =
      list.length === previous.length && list.every((item, index) => item === previous[index]);
    lists[name] = isUnchanged ? previous : list;
    same &&= isUnchanged;
  }
  return asPart({ [resource]: same ? before[resource] : lists });
}

function rawList(channel: ListChannel, body: unknown): unknown {
  const raw = fieldOf(body, LIST_CHANNELS[channel][1]);
  return raw === undefined && channel === "charts.avalanche" && isRecord(body) ? [] : raw;
}

/** Reads explanations of listed flares; an invalid one stays as it was before. */
export function readExplanations(
  raw: unknown,
  flares: Part["flares"],
  before: Snapshot | undefined,
  reports: UpstreamReports,
): Explanations {
  const previous = (before ?? EMPTY_SNAPSHOT).explanations;
  const source = isRecord(raw) ? raw : previous;
  if (source !== raw)
    reports.add("invalidLists", { list: "explanations", reason: "is not an object", action: "kept" });
  const view = { explanations: {}, ...(flares ? { flares } : {}) };
  const listed = FLARE_CHANNELS.flatMap((channel) => listOf(view, channel));
  const read: Record<string, Explanation> = {};
  for (const [id, flare] of new Map(listed.map((item) => [keyOf(item), item]))) {
    const raw = Object.hasOwn(source, id) ? withText(source[id], fieldOf(flare, "liquidity")) : undefined;
    const why = raw === undefined ? undefined : readExplanation(id, raw, previous[id], reports);
    if (why) read[id] = why;
  }
  return reuseExplanations(read, previous);
}

/** Returns `previous` if `read` has the same explanations. */
export function reuseExplanations(read: Explanations, previous: Explanations): Explanations {
  const same = Object.keys(read).every((id) => read[id] === previous[id]);
  return same && Object.keys(read).length === Object.keys(previous).length ? previous : read;
}

/** Adds the sentence and the units of terms to an explanation of a service that sends none. */
function withText(raw: unknown, liquidity: unknown): unknown {
  if (!isRecord(raw) || raw.text !== undefined || !Array.isArray(raw.terms)) return raw;
  const terms = raw.terms.map((term: unknown) => {
    const { data: name } = TermName.safeParse(fieldOf(term, "name"));
    return isRecord(term) && name ? { unit: TERM_UNITS[name], usual: null, ...term } : term;
  });
  const { data: numbers } = Explanation.omit({ text: true }).safeParse({ ...raw, terms });
  return numbers ? { ...raw, text: whyText(numbers, String(liquidity)), terms } : raw;
}

function readExplanation(
  id: string,
  raw: unknown,
  previous: Explanation | undefined,
  reports: UpstreamReports,
): Explanation | undefined {
  if (previous && jsonEqual(previous, raw)) return previous;
  const unfit = sanitize(raw);
  if (previous && !unfit && jsonEqual(previous, raw)) return previous;
  const fault = unfit ? { path: "", reason: unfit } : faultOf(Explanation, raw);
  if (!fault) return raw as Explanation;
  const action = previous ? "kept" : "dropped";
  reports.add("invalidItems", { list: "explanations", key: id, ...fault, action });
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

export function mergeParts(parts: readonly Part[]): Part {
  const merged: Part = {};
  for (const part of parts) Object.assign(merged, part);
  return merged;
}

/** Joins parts to a snapshot. Returns `before` itself if all of them are its own. */
export function joinParts(parts: readonly Part[], before: Snapshot | undefined): Snapshot {
  const joined: Snapshot = { ...EMPTY_SNAPSHOT, ...mergeParts(parts) };
  const same = before && RESOURCES.every((resource) => joined[resource] === before[resource]);
  return same && joined.explanations === before.explanations ? before : joined;
}

function asPart(checked: Record<string, unknown>): Part {
  return checked as Part;
}
