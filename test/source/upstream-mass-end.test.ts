import { expect } from "vitest";
import type { Flare, Snapshot } from "../../src/model/index.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../support/samples.ts";
import { follow, json, silent, test, text, wholeOf } from "../support/scripted-upstream.ts";

/** A snapshot in which the flares of these numbers run. */
function running(...numbers: readonly number[]): Snapshot {
  const pro: Flare[] = numbers.map((number) => ({
    ...SAMPLE_FLARE,
    id: `00000000-0000-5000-8000-00000000000${number}`,
  }));
  return { ...SAMPLE_SNAPSHOT, flares: { free: [], pro, finished_trending: [] }, explanations: {} };
}

const whole = (...numbers: readonly number[]) => json(wholeOf(running(...numbers)));
const idsOf = ({ flares }: Snapshot) => flares.pro.map(({ id }) => Number(id.at(-1)));

test("an end of most flares that the next poll takes back never happened", async ({ upstream }) => {
  upstream.on("snapshot", whole(1, 2, 3, 4), whole(), whole(1, 2, 3, 4, 5));
  const { next, source, waits } = follow(upstream.url);
  await next();
  expect(idsOf((await next()).snapshot)).toEqual([1, 2, 3, 4, 5]);
  expect(waits()).toEqual([1_000, 1_000]);
  expect(source.stats().doubted).toBe(1);
});

test("an end of most flares that the next poll confirms is believed", async ({ upstream }) => {
  upstream.on("snapshot", whole(1, 2, 3, 4), whole(1), whole(1));
  const { next, waits } = follow(upstream.url);
  await next();
  expect(idsOf((await next()).snapshot)).toEqual([1]);
  expect(waits()).toEqual([1_000, 1_000]);
});

test("a 304 confirms an end of most flares", async ({ upstream }) => {
  upstream.on("snapshot", whole(1, 2, 3, 4), json(wholeOf(running()), { etag: '"empty"' }), text(304, ""));
  const { next } = follow(upstream.url);
  await next();
  expect(idsOf((await next()).snapshot)).toEqual([]);
  expect(upstream.asked.at(-1)?.headers["if-none-match"]).toBe('"empty"');
});

test("a failed poll between neither confirms nor takes back", async ({ upstream }) => {
  upstream.on("snapshot", whole(1, 2, 3, 4), whole(), text(500, ""), whole(), whole(1, 2, 3, 4));
  const { next } = follow(upstream.url);
  await next();
  expect(idsOf((await next()).snapshot)).toEqual([]);
  expect(upstream.asked).toHaveLength(4);
});

test("answers that would end other flares each time are not believed until two agree", async ({
  upstream,
}) => {
  upstream.on("snapshot", whole(1, 2, 3, 4, 5), whole(1, 2), whole(4, 5), whole(1, 2), whole(1, 2));
  const { next, source } = follow(upstream.url);
  await next();
  expect(idsOf((await next()).snapshot)).toEqual([1, 2]);
  expect(source.stats().doubted).toBe(3);
  expect(source.freshness()).toMatchObject({ state: "live", reason: "" });
});

test("answers that are not believed do not count as fresh, and freshness tells why", async ({ upstream }) => {
  upstream.on("snapshot", whole(1, 2, 3, 4, 5), whole(1, 2), whole(4, 5), silent);
  const { next, source, clock, controller } = follow(upstream.url, { staleAfterMs: 4_000 });
  await next();
  const poll = next();
  await upstream.requested(4);
  expect(source.freshness()).toMatchObject({ state: "live", data_age_ms: 3_000 });
  clock.advance(1_001);
  expect(source.freshness()).toMatchObject({
    state: "stale",
    reason: "the upstream's answers would end most flares at once, and do not agree with each other",
  });
  controller.abort(new Error("enough"));
  await expect(poll).rejects.toThrow("enough");
});

test("the end of exactly half of the flares, or of all of three, is believed at once", async ({
  upstream,
}) => {
  upstream.on("snapshot", whole(1, 2, 3, 4), whole(3, 4), whole(3, 4, 5), whole());
  const { next, source } = follow(upstream.url);
  const seen: number[][] = [];
  for (let poll = 0; poll < 4; poll += 1) seen.push(idsOf((await next()).snapshot));
  expect(seen).toEqual([[1, 2, 3, 4], [3, 4], [3, 4, 5], []]);
  expect(source.stats().doubted).toBe(0);
});

test("what is held back of an unbelieved answer does not cost the last valid version of an item", async ({
  upstream,
}) => {
  const [first, ...others] = running(1, 2, 3, 4).flares.pro;
  const damaged = { free: [], pro: [{ ...first, liquidity: 12 }, ...others], finished_trending: [] };
  upstream.on("snapshot", whole(1, 2, 3, 4), whole(), json({ ...wholeOf(running()), flares: damaged }));
  const { next } = follow(upstream.url);
  const { snapshot } = await next();
  expect((await next()).snapshot).toEqual(snapshot);
});
