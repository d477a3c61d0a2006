import fc from "fast-check";
import { expect, test } from "vitest";
import { sanitize } from "../../../src/base/lib/untrusted-json.ts";
import { EMPTY_SNAPSHOT, keyOf, type ListItem, Snapshot } from "../../../src/base/model/index.ts";
import { LIST_CHANNELS, listOf, projectSnapshot, SPEC_CHANNELS } from "../../../src/base/protocol/index.ts";
import { UpstreamReports } from "../../../src/feeds/upstream/upstream-reports.ts";
import {
  completeSnapshot,
  mergeResources,
  RESOURCES,
  readNotes,
  readResource,
} from "../../../src/feeds/upstream/upstream-resources.ts";
import { diffSnapshots } from "../../../src/gateway/source/diff.ts";
import { defaultGroups } from "../../support/expect/shown-lists.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { arbitraryHistory, arbitrarySnapshot } from "../../support/random/arbitraries.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

type Json = Record<string, unknown>;

/** Parses a body of `/snapshot` as the source does, via JSON text. */
function read(body: unknown, before: Snapshot | undefined): { snapshot: Snapshot; reports: UpstreamReports } {
  const reports = new UpstreamReports(new ManualClock(), () => {});
  const parsed: Json = JSON.parse(JSON.stringify(body));
  const parts = mergeResources(RESOURCES.map((name) => readResource(name, parsed[name], before, reports)));
  const notes = readNotes(parsed, parts.flares, before, reports);
  return { snapshot: completeSnapshot([parts, notes], before), reports };
}

/** Returns the part of a snapshot that other services have: the flares of `bsc` only. */
function specOf(snapshot: Snapshot): Snapshot {
  const { explanations, outcomes } = projectSnapshot(snapshot, SPEC_CHANNELS);
  const { newest, flares } = snapshot;
  const charts = { ...EMPTY_SNAPSHOT.charts, ...defaultGroups(snapshot.charts) };
  const leaderboards = { ...EMPTY_SNAPSHOT.leaderboards, ...defaultGroups(snapshot.leaderboards) };
  const own = { newest, flares, charts, leaderboards, explanations, outcomes };
  return { ...EMPTY_SNAPSHOT, ...JSON.parse(JSON.stringify(own)) };
}

const withoutProto = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (key, inner) => (key === "__proto__" ? undefined : inner));

const itemsOf = (snapshot: Snapshot) => SPEC_CHANNELS.map((channel) => listOf(snapshot, channel));

test("a valid snapshot is read unchanged, and parts equal to the previous one are the same objects", () => {
  fc.assert(
    fc.property(arbitraryHistory, ({ before, after }) => {
      const first = read(before, undefined).snapshot;
      const { snapshot, reports } = read(after, first);
      expect(snapshot).toEqual(withoutProto(specOf(after)));
      expect(Object.values(reports.counts)).toEqual([0, 0, 0, 0]);
      expect(read(snapshot, snapshot).snapshot).toBe(snapshot);
      for (const [index, list] of itemsOf(snapshot).entries()) {
        const held = new Map((itemsOf(first)[index] ?? []).map((item) => [JSON.stringify(item), item]));
        for (const item of list) expect(held.get(JSON.stringify(item)) ?? item).toBe(item);
      }
    }),
    lawRuns(12, 40),
  );
});

const damage = fc.record({
  channel: fc.constantFrom(...SPEC_CHANNELS),
  at: fc.nat(8),
  field: fc.nat(20),
  value: fc.jsonValue({ maxDepth: 2 }),
});

/**
 * Returns the body with some fields of some items overwritten, and, by channel, the keys of the
 * other items.
 */
function damaged(
  snapshot: Snapshot,
  steps: readonly (typeof damage extends fc.Arbitrary<infer D> ? D : never)[],
) {
  const body: Record<string, Record<string, Json[]>> = JSON.parse(JSON.stringify(snapshot));
  const hit = new Set<Json>();
  for (const { channel, at, field, value } of steps) {
    const [resource, name] = LIST_CHANNELS[channel];
    const list = body[resource]?.[name] ?? [];
    const item = list[at % Math.max(1, list.length)];
    if (!item) continue;
    const fields = Object.keys(item).filter((key) => key !== "__proto__");
    item[fields[field % fields.length] ?? "id"] = value;
    hit.add(item);
  }
  return { body, hit };
}

test("for any damage to items, the others are read unchanged, and the result is a valid snapshot", () => {
  fc.assert(
    fc.property(
      arbitrarySnapshot,
      arbitrarySnapshot,
      fc.array(damage, { minLength: 1, maxLength: 8 }),
      (before, after, steps) => {
        const { body, hit } = damaged(after, steps);
        const first = read(before, undefined).snapshot;
        const { snapshot } = read(body, first);
        expect(Snapshot.safeParse(snapshot).error).toBeUndefined();
        expect(() => diffSnapshots(first, snapshot)).not.toThrow();
        for (const channel of SPEC_CHANNELS) {
          const [resource, name] = LIST_CHANNELS[channel];
          const intact = (body[resource]?.[name] ?? []).filter((item) => !hit.has(item));
          const items: readonly ListItem[] = listOf(snapshot, channel);
          expect(new Set(items.map(keyOf)).size).toBe(items.length);
          const texts = items.map((item) => JSON.stringify(item));
          for (const item of intact) expect(texts).toContain(JSON.stringify(withoutProto(item)));
        }
      },
    ),
    lawRuns(20, 60),
  );
});

test("if any JSON replaces a snapshot's parts, reading neither throws nor returns an invalid snapshot", () => {
  const part = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom("free", "pro", "bsc", "__proto__"), fc.jsonValue()),
  );
  fc.assert(
    fc.property(
      arbitrarySnapshot,
      fc.dictionary(fc.constantFrom(...RESOURCES, "explanations"), part),
      (before, body) => {
        const first = read(before, undefined).snapshot;
        expect(Snapshot.safeParse(read({ ...first, ...body }, first).snapshot).error).toBeUndefined();
      },
    ),
    lawRuns(12, 40),
  );
});

test("no JSON value survives sanitize that JSON.stringify cannot print", () => {
  const nested = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
  expect(sanitize(nested(32))).toBeUndefined();
  expect(sanitize(nested(33))).toBe("is nested deeper than 32 levels");
  expect(sanitize(nested(60_000))).toBe("is nested deeper than 32 levels");
  expect(sanitize("x".repeat(65_536))).toBeUndefined();
  expect(sanitize("x".repeat(65_537))).toBe("is larger than 65536 characters");
  expect(sanitize({ ["x".repeat(65_537)]: 1 })).toBe("is larger than 65536 characters");
  expect(sanitize([1, [JSON.parse("-1e999")]])).toBe("contains a number beyond the range of a double");
});
