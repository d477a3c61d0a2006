import fc from "fast-check";
import { expect, test } from "vitest";
import {
  CHANNELS,
  joinViews,
  projectSnapshot,
  splitView,
  type View,
} from "../../../src/base/protocol/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { arbitrarySnapshot } from "../../support/random/arbitraries.ts";
import { assertReaching } from "../../support/random/assert-reaching.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

/** The number of items in all lists of a view. */
function countOf({ explanations: _whys, outcomes: _outcomes, ...resources }: View): number {
  const lists = Object.values(resources).flatMap((named) => Object.values(named ?? {}));
  return lists.reduce((sum, { length }) => sum + length, 0);
}

test("[W46] the parts of any view join to it, and each has at most the given bytes or a single item", async () => {
  const totals = { split: 0, single: 0, whole: 0, outcomes: 0 };
  await assertReaching(
    fc.property(
      arbitrarySnapshot,
      fc.subarray([...CHANNELS], { minLength: 1 }),
      fc.constantFrom(0, 1_000, 4_000, 1_000_000),
      (snapshot, channels, maxBytes) => {
        const view: View = plain(projectSnapshot(snapshot, channels));
        const texts = splitView(view, maxBytes);
        const parts: View[] = texts.map((text) => JSON.parse(text));
        expect(plain(joinViews(parts))).toEqual(view);
        for (const [at, text] of texts.entries()) {
          const items = countOf(parts[at] ?? { explanations: {} });
          if (items > 1) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
          else totals.single += 1;
        }
        for (const [at, part] of parts.slice(1).entries()) {
          // Both need more, but for the commas.
          const both = JSON.stringify(joinViews([parts[at] ?? part, part]));
          expect(Buffer.byteLength(both) + CHANNELS.length).toBeGreaterThan(maxBytes);
        }
        if (texts.length === 1) expect(texts[0]).toBe(JSON.stringify(view));
        totals[texts.length > 1 ? "split" : "whole"] += 1;
        totals.outcomes += Object.keys(view.outcomes ?? {}).length;
      },
    ),
    lawRuns(40, 100),
    totals,
    { split: 10, single: 10, whole: 5, outcomes: 5 },
  );
});

test("[W46] a split reads each item, explanation and outcome once, however many parts it makes", () => {
  const reads = new Map<string, number>();
  const counted = <T extends object>(name: string, value: T): T => ({
    ...value,
    toJSON: () => {
      reads.set(name, (reads.get(name) ?? 0) + 1);
      return value;
    },
  });
  const flares = Array.from({ length: 100 }, (_, at) => counted(`${at}`, { ...SAMPLE_FLARE, id: `${at}` }));
  const of = <T extends object>(name: string, value: T) =>
    Object.fromEntries(flares.map(({ id }) => [id, counted(`${name} ${id}`, value)]));
  const view: View = {
    flares: { finished_trending: flares.map((flare) => ({ ...flare, finished_trending_at: "" })) },
    explanations: of("why", SAMPLE_EXPLANATION),
    outcomes: of("outcome", SAMPLE_OUTCOME),
  };
  expect(splitView(view, 8_192).length).toBeGreaterThan(10);
  expect([reads.size, Math.max(...reads.values())]).toEqual([300, 1]);
});
