import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Snapshot } from "../../../src/base/model/index.ts";
import {
  applyEvent,
  CHANNELS,
  EventBody,
  isListChannel,
  listOf,
  projectSnapshot,
  type View,
} from "../../../src/base/protocol/index.ts";
import { diffSnapshots, toEvents } from "../../../src/gateway/source/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { arbitraryHistory, arbitrarySnapshot } from "../../support/random/arbitraries.ts";

const AT = Date.UTC(2017, 10, 12, 8, 21);
const pairs = {
  "any two snapshots": fc.record({ before: arbitrarySnapshot, after: arbitrarySnapshot }),
  "a snapshot and what grew out of it": arbitraryHistory,
};

/** Returns the value as a client receives it, via JSON text. */
function received<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/**
 * Returns the value's JSON text with sorted fields, so that equal JSON values have equal texts.
 * (vitest's toEqual ignores a field named `__proto__`.)
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([field, of]) => `${JSON.stringify(field)}:${canonical(of)}`).join()}}`;
}

function play(view: View, events: readonly EventBody[]): View {
  return events.reduce(applyEvent, view);
}

test("the snapshots of these laws are valid", () => {
  fc.assert(
    fc.property(arbitraryHistory, ({ before, after }) => {
      Snapshot.parse(before);
      Snapshot.parse(after);
    }),
    lawRuns(4, 20),
  );
});

describe.each(Object.entries(pairs))("%s", (_name, pair) => {
  test("[L1] the events turn the first snapshot into the second exactly, also on the wire", () => {
    fc.assert(
      fc.property(pair, ({ before, after }) => {
        const events = toEvents(before, after, AT);
        expect(canonical(play(before, events))).toBe(canonical(after));
        expect(canonical(play(received(before), received(events)))).toBe(canonical(after));
      }),
      lawRuns(8, 40),
    );
  });

  test("[L1] a view of some channels follows from the events of those channels alone, and ignores others", () => {
    fc.assert(
      fc.property(pair, fc.subarray([...CHANNELS]), ({ before, after }, channels) => {
        const all = toEvents(before, after, AT);
        const view = projectSnapshot(before, channels);
        const expected = canonical(projectSnapshot(after, channels));
        for (const events of [all, all.filter(({ channel }) => channels.includes(channel))])
          expect(canonical(play(view, events))).toBe(expected);
      }),
      lawRuns(8, 40),
    );
  });

  test("every event matches its schema", () => {
    fc.assert(
      fc.property(pair, ({ before, after }) => {
        for (const event of toEvents(before, after, AT)) EventBody.parse(received(event));
      }),
      lawRuns(4, 20),
    );
  });

  test("changes are minimal: each item occurs once, and an order only if common items changed places", () => {
    fc.assert(
      fc.property(pair, ({ before, after }) => {
        for (const { channel, changes } of diffSnapshots(before, after)) {
          const keys = (side: Snapshot) => projectKeys(side, channel);
          const [was, is] = [keys(before), keys(after)];
          const op = (name: string) => changes.filter((change) => change.op === name);
          expect(op("remove")).toHaveLength(was.filter((key) => !is.includes(key)).length);
          expect(op("insert")).toHaveLength(is.filter((key) => !was.includes(key)).length);
          const moved =
            was.filter((key) => is.includes(key)).join() !== is.filter((key) => was.includes(key)).join();
          expect(op("order")).toHaveLength(moved ? 1 : 0);
          const set = changes.flatMap((change) => (change.op === "set" ? change.id : []));
          expect(new Set(set).size).toBe(set.length);
        }
      }),
      lawRuns(4, 20),
    );
  });

  test("[L4] the same two snapshots result in the same bytes, whether or not they share objects", () => {
    fc.assert(
      fc.property(pair, ({ before, after }) => {
        const bytes = JSON.stringify(toEvents(before, after, AT));
        expect(JSON.stringify(toEvents(structuredClone(before), structuredClone(after), AT))).toBe(bytes);
      }),
      lawRuns(4, 20),
    );
  });

  test("there are no events between two equal snapshots", () => {
    fc.assert(
      fc.property(pair, ({ after }) => {
        expect(toEvents(after, structuredClone(after), AT)).toEqual([]);
      }),
      lawRuns(4, 20),
    );
  });
});

function projectKeys(snapshot: Snapshot, channel: (typeof CHANNELS)[number]): readonly string[] {
  if (!isListChannel(channel)) return [];
  return listOf(snapshot, channel).map((item) =>
    "id" in item ? item.id : JSON.stringify(keyFields(item.object)),
  );
}

function keyFields(object: object): unknown {
  const { id, address, symbol } = object as { id?: string; address?: string; symbol?: string };
  return id ?? address ?? symbol;
}
