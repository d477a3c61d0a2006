import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyOf, Snapshot } from "../../../src/base/model/index.ts";
import {
  applyEvent,
  CHANNELS,
  EventBody,
  FLARE_CHANNELS,
  isListChannel,
  listOf,
  projectSnapshot,
  type View,
} from "../../../src/base/protocol/index.ts";
import { diffSnapshots, toEvents } from "../../../src/gateway/source/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { arbitraryHistory, arbitrarySnapshot } from "../../support/random/arbitraries.ts";
import { assertReaching } from "../../support/random/assert-reaching.ts";

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

function surgesIn(events: readonly EventBody[]) {
  return events.filter((event) => event.name === "flare-surged");
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
  test("[L1] the events turn the first snapshot into the second exactly, also on the wire", async () => {
    const totals = { surged: 0 };
    await assertReaching(
      fc.property(pair, ({ before, after }) => {
        const events = toEvents(before, after, AT);
        totals.surged += surgesIn(events).length;
        expect(canonical(play(before, events))).toBe(canonical(after));
        expect(canonical(play(received(before), received(events)))).toBe(canonical(after));
      }),
      lawRuns(8, 40),
      totals,
      { surged: 3 },
    );
  });

  test("[L1] a view of some channels follows from the events of those channels alone, and ignores others", async () => {
    const totals = { surged: 0 };
    await assertReaching(
      fc.property(pair, fc.subarray([...CHANNELS]), ({ before, after }, channels) => {
        const all = toEvents(before, after, AT);
        totals.surged += surgesIn(all).length;
        const view = projectSnapshot(before, channels);
        const expected = canonical(projectSnapshot(after, channels));
        for (const events of [all, all.filter(({ channel }) => channels.includes(channel))])
          expect(canonical(play(view, events))).toBe(expected);
      }),
      lawRuns(8, 40),
      totals,
      { surged: 3 },
    );
  });

  test("[W45] each flare that stays in free or pro while the number of its surge rises surges there once, and no other", async () => {
    const totals = { surged: 0 };
    await assertReaching(
      fc.property(pair, ({ before, after }) => {
        const expected = FLARE_CHANNELS.filter((channel) => !channel.endsWith(".finished")).flatMap(
          (channel) => {
            const was = listOf(before, channel).map(keyOf);
            const stayed = listOf(after, channel).filter((flare) => was.includes(keyOf(flare)));
            return stayed.flatMap((flare) => {
              const id = keyOf(flare);
              const why = after.explanations[id];
              const earlier = before.explanations[id]?.surge?.number ?? 0;
              if (why?.surge && why.surge.number > earlier)
                return [{ channel, flare, why, surge: why.surge }];
              return [];
            });
          },
        );
        totals.surged += expected.length;
        const events = toEvents(before, after, AT);
        const surges = surgesIn(events).map(({ channel, data: { flare, why, surge } }) => {
          return { channel, flare, why, surge };
        });
        const inOrder = (found: typeof expected) => found.map(canonical).toSorted();
        expect(inOrder(surges)).toEqual(inOrder(expected));
        const updated = events.flatMap(({ name, channel, data }) =>
          name === "flare-updated" && "id" in data ? `${channel} ${data.id}` : [],
        );
        for (const { channel, flare } of surges) expect(updated).not.toContain(`${channel} ${flare.id}`);
      }),
      lawRuns(8, 40),
      totals,
      { surged: 3 },
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
