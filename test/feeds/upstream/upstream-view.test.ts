import { expect } from "vitest";
import {
  EMPTY_SNAPSHOT,
  type Flare,
  type NestedFlare,
  type Snapshot,
} from "../../../src/base/model/index.ts";
import { snapshotOfPlan } from "../../../src/base/protocol/index.ts";
import { follow, json, test, wholeOf } from "../../support/servers/scripted-upstream.ts";
import {
  SAMPLE_BSC_CHART_ITEM,
  SAMPLE_BSC_ENTRY,
  SAMPLE_EXCHANGE_CHART_ITEM,
  SAMPLE_FLARE,
  SAMPLE_LISTING,
  SAMPLE_NESTED_FLARE,
} from "../../support/world/samples.ts";

const STARTED = SAMPLE_FLARE.started_trending_at;
const OTHER = "11111111-2222-5333-8444-555555555555";

/**
 * Returns a market whose chart and leaderboard contain the running flare, as those of an upstream
 * without plans do.
 */
function flaring(flares: Partial<Snapshot["flares"]>, nested: Partial<NestedFlare> = {}): Snapshot {
  const flare = { ...SAMPLE_NESTED_FLARE, last_relevant_at: STARTED, ...nested };
  const quiet = { ...SAMPLE_NESTED_FLARE, id: OTHER, token: { ...SAMPLE_FLARE.token, address: "0x77" } };
  return {
    ...EMPTY_SNAPSHOT,
    flares: { ...EMPTY_SNAPSHOT.flares, ...flares },
    charts: { ...EMPTY_SNAPSHOT.charts, bsc: [{ ...SAMPLE_BSC_CHART_ITEM, flare: quiet }] },
    leaderboards: { ...EMPTY_SNAPSHOT.leaderboards, bsc: [{ ...SAMPLE_BSC_ENTRY, object: flare }] },
  };
}

test("[K2] charts and leaderboards reveal nothing to the free plan about an upstream's flare that is only in pro", async ({
  upstream,
}) => {
  const secret = flaring({ pro: [SAMPLE_FLARE] });
  const item = { ...SAMPLE_BSC_CHART_ITEM, flare: { ...SAMPLE_NESTED_FLARE, last_relevant_at: STARTED } };
  const charted = { ...secret, charts: { ...secret.charts, bsc: [item] } };
  const free = flaring({ pro: [SAMPLE_FLARE], free: [SAMPLE_FLARE] });
  upstream.on(
    "snapshot",
    json(wholeOf(secret)),
    json(wholeOf(charted)),
    json(wholeOf(free)),
    json(wholeOf(charted)),
  );
  const { next } = follow(upstream.url);
  const hidden = snapshotOfPlan((await next()).snapshot, "free");
  expect(JSON.stringify(hidden)).not.toContain(SAMPLE_FLARE.id);
  expect(hidden.leaderboards.bsc[0]?.object).toMatchObject({
    relevant: false,
    last_relevant_at: SAMPLE_NESTED_FLARE.last_irrelevant_at,
  });
  expect(hidden.charts).toEqual(secret.charts);
  const inChart = snapshotOfPlan((await next()).snapshot, "free");
  expect(JSON.stringify(inChart)).not.toContain(SAMPLE_FLARE.id);
  expect(JSON.stringify(inChart)).not.toContain(STARTED);
  expect(inChart.charts.bsc[0]?.flare.relevant).toBe(true);
  expect((await next()).snapshot).toEqual(free);
  // It leaves the free list when several responses have confirmed it.
  for (let poll = 0; poll < 3; poll += 1) await next();
  // A flare that was shown once is no longer secret.
  expect((await next()).snapshot).toEqual(charted);
});

test("an upstream's link that is not http or https becomes null, and its item stays", async ({
  upstream,
}) => {
  const bad = "javascript:alert(1)";
  const social_data = { chat_url: bad, microblog_url: "http://x.example", website_url: "data:text/html,x" };
  const market_data = { market_id: "m", image_url: " JavaScript:alert(1)", name: null };
  const forum_post = { ...(SAMPLE_FLARE.forum_post ?? {}), url: bad };
  const flare = { ...SAMPLE_FLARE, social_data, market_data, forum_post, extra_url: bad };
  const listing = { ...SAMPLE_LISTING, social_data, market_data };
  const nested = { ...SAMPLE_NESTED_FLARE, social_data, market_data, forum_post };
  upstream.on(
    "snapshot",
    json({
      ...wholeOf(EMPTY_SNAPSHOT),
      flares: { free: [flare], pro: [flare, { ...SAMPLE_FLARE, id: OTHER }], finished_trending: [] },
      newest: { bsc: [listing] },
      charts: {
        ...EMPTY_SNAPSHOT.charts,
        bsc: [{ ...SAMPLE_BSC_CHART_ITEM, flare: nested }],
        exchange: [{ ...SAMPLE_EXCHANGE_CHART_ITEM, market_data }],
      },
      leaderboards: { ...EMPTY_SNAPSHOT.leaderboards, bsc: [{ ...SAMPLE_BSC_ENTRY, object: nested }] },
    }),
  );
  const { next } = follow(upstream.url);
  const { snapshot } = await next();
  expect(JSON.stringify(snapshot)).not.toMatch(/javascript:|data:text/i);
  const [first, second]: readonly Flare[] = snapshot.flares.pro;
  expect(first).toMatchObject({
    social_data: { chat_url: null, microblog_url: "http://x.example", website_url: null },
    market_data: { market_id: "m", image_url: null },
    forum_post: null,
  });
  expect(second).toEqual({ ...SAMPLE_FLARE, id: OTHER });
  expect(snapshot.newest.bsc).toHaveLength(1);
  expect(snapshot.charts.exchange[0]?.market_data?.image_url).toBeNull();
  expect(snapshot.leaderboards.bsc[0]?.object.forum_post).toBeNull();
});
