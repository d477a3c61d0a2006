import {
  EMPTY_SNAPSHOT,
  Explanation,
  type Explanations,
  keyOf,
  type ListItem,
  type Snapshot,
  Timestamp,
} from "../../model/index.ts";
import {
  FLARE_CHANNELS,
  LIST_CHANNEL_NAMES,
  LIST_CHANNELS,
  type ListChannel,
  listOf,
} from "../../protocol/index.ts";
import { jsonEqual } from "../json-equal.ts";
import { fieldOf, isRecord, sanitize } from "./upstream-json.ts";
import { faultOf, readList } from "./upstream-list.ts";
import type { UpstreamReports } from "./upstream-reports.ts";

/** The four resources that every service of this API serves. */
export const RESOURCES = ["flares", "newest", "charts", "leaderboards"] as const;
export type Resource = (typeof RESOURCES)[number];

/** What one answer of an upstream contributes to the snapshot: some resources, checked. */
export type Part = { readonly [R in keyof Snapshot]?: Snapshot[R] };

/**
 * Why a body cannot be the resource `flares` at all, or `undefined`. Later answers may lack a list, which then stays as it was; the
 * `first` must have all three, for what a snapshot holds before anything else is known becomes the base of all events.
 */
export function misfitOfFlares(flares: unknown, first: boolean): string | undefined {
  const broken = FLARE_CHANNELS.map((channel) => LIST_CHANNELS[channel][1]).filter(
    (name) => !Array.isArray(fieldOf(flares, name)),
  );
  if (broken.length === 0 || (!first && broken.length < FLARE_CHANNELS.length)) return undefined;
  return `answered JSON of another form: flares.${broken[0]} is not an array`;
}

/**
 * Reads one resource. Lists and items that cannot be taken stay as in `before`; where nothing changed the result is `before`'s own object.
 * A chart of avalanche, which the specification only promises, may be absent: it is empty then.
 */
export function readResource(
  resource: Resource,
  body: unknown,
  before: Snapshot | undefined,
  reports: UpstreamReports,
): Part {
  return buildResource(resource, before ?? EMPTY_SNAPSHOT, (channel, held) =>
    readList(channel, rawList(channel, body), held, reports),
  );
}

/** Builds one resource out of a list for each of its channels; a list that has the items of `before`, and a resource that has its lists, are those of `before`. */
export function buildResource(
  resource: Resource,
  before: Snapshot,
  listFor: (channel: ListChannel, held: readonly ListItem[]) => readonly ListItem[],
): Part {
  const lists: Record<string, unknown> = {};
  let same = true;
  for (const channel of LIST_CHANNEL_NAMES) {
    const [owner, name] = LIST_CHANNELS[channel];
    if (owner !== resource) continue;
    const held = listOf(before, channel);
    const list = listFor(channel, held);
    const isHeld = list.length === held.length && list.every((item, index) => item === held[index]);
    lists[name] = isHeld ? held : list;
    same &&= isHeld;
  }
  return asPart({ [resource]: same ? before[resource] : lists });
}

function rawList(channel: ListChannel, body: unknown): unknown {
  const raw = fieldOf(body, LIST_CHANNELS[channel][1]);
  return raw === undefined && channel === "charts.avalanche" && isRecord(body) ? [] : raw;
}

/**
 * Reads the explanations of the flares that `flares` lists; others are left out. One that is invalid stays as it was before, or is left
 * out when it has no valid version.
 */
export function readExplanations(
  raw: unknown,
  flares: Part["flares"],
  before: Snapshot | undefined,
  reports: UpstreamReports,
): Explanations {
  const held = (before ?? EMPTY_SNAPSHOT).explanations;
  const source = isRecord(raw) ? raw : held;
  if (source !== raw) {
    reports.add("invalidLists", {
      list: "explanations",
      key: null,
      path: "",
      reason: "is not an object",
      action: "kept",
    });
  }
  const view = { explanations: {}, ...(flares ? { flares } : {}) };
  const ids = new Set(FLARE_CHANNELS.flatMap((channel) => listOf(view, channel).map(keyOf)));
  const read: Record<string, Explanation> = {};
  for (const id of ids) {
    const why = Object.hasOwn(source, id) ? readExplanation(id, source[id], held[id], reports) : undefined;
    if (why) read[id] = why;
  }
  return reuseExplanations(read, held);
}

/** `held` where `read` has the same explanations. */
export function reuseExplanations(read: Explanations, held: Explanations): Explanations {
  const same = Object.keys(read).every((id) => read[id] === held[id]);
  return same && Object.keys(read).length === Object.keys(held).length ? held : read;
}

function readExplanation(
  id: string,
  raw: unknown,
  held: Explanation | undefined,
  reports: UpstreamReports,
): Explanation | undefined {
  if (held && jsonEqual(held, raw)) return held;
  const unfit = sanitize(raw);
  if (held && !unfit && jsonEqual(held, raw)) return held;
  const fault = unfit ? { path: "", reason: unfit } : faultOf(Explanation, raw);
  if (!fault) return raw as Explanation;
  const action = held ? "kept" : "dropped";
  reports.add("invalidItems", { list: "explanations", key: id, ...fault, action });
  return held;
}

/** Event time in milliseconds since 1970 out of the field `observed_at` of `/snapshot`; `undefined`, and reported, when it is no moment. */
export function readObservedAtMs(raw: unknown, reports: UpstreamReports): number | undefined {
  const text = Timestamp.safeParse(raw).data;
  const atMs = text === undefined ? Number.NaN : Date.parse(text);
  if (!Number.isNaN(atMs)) return atMs;
  const report = { list: "observed_at", key: null, path: "", reason: "is not a moment in UTC" } as const;
  reports.add("invalidLists", { ...report, action: "kept" });
  return undefined;
}

/** All that several parts hold, as one. */
export function mergeParts(parts: readonly Part[]): Part {
  const merged: Part = {};
  for (const part of parts) Object.assign(merged, part);
  return merged;
}

/** The snapshot that these parts make together; `before` itself when each of them is of it. */
export function joinParts(parts: readonly Part[], before: Snapshot | undefined): Snapshot {
  const joined: Snapshot = { ...EMPTY_SNAPSHOT, ...mergeParts(parts) };
  const same = before && RESOURCES.every((resource) => joined[resource] === before[resource]);
  return same && joined.explanations === before.explanations ? before : joined;
}

function asPart(checked: Record<string, unknown>): Part {
  return checked as Part;
}
