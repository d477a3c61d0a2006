import { expect } from "vitest";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { follow, json, silent, tagged, test, wholeOf } from "../../support/servers/scripted-upstream.ts";
import { POLLED_SNAPSHOT, SAMPLE_FLARE } from "../../support/world/samples.ts";

const OBSERVED = Date.parse("2017-11-12T08:30:00.000Z");

test("a poll of /snapshot returns the upstream's state and its event time", async ({ upstream }) => {
  upstream.on("snapshot", json(wholeOf(POLLED_SNAPSHOT)));
  const { next } = follow(upstream.url);
  expect(await next()).toEqual({ observedAtMs: OBSERVED, snapshot: POLLED_SNAPSHOT });
  expect(upstream.paths).toEqual(["snapshot"]);
});

test("without /snapshot, the four resources are requested, and /snapshot is not requested again at each poll", async ({
  upstream,
}) => {
  const { next, clock } = follow(upstream.onFour(POLLED_SNAPSHOT).url);
  const { snapshot, observedAtMs } = await next();
  expect(snapshot).toEqual({ ...POLLED_SNAPSHOT, explanations: {}, outcomes: {} });
  expect(observedAtMs).toBe(clock.now());
  await next();
  const four = ["flares", "newest", "charts", "leaderboards"];
  expect(upstream.paths.toSorted()).toEqual([...four, ...four, "snapshot"].toSorted());
});

test("an upstream that starts to offer /snapshot is detected within five minutes", async ({ upstream }) => {
  const { next, clock } = follow(upstream.onFour(POLLED_SNAPSHOT).url);
  await next();
  upstream.on("snapshot", json(wholeOf(POLLED_SNAPSHOT)));
  expect((await next()).snapshot.explanations).toEqual({});
  clock.advance(300_000);
  expect((await next()).snapshot).toEqual(POLLED_SNAPSHOT);
});

test("after an upstream's outage, /snapshot is requested again", async ({ upstream }) => {
  const { next, fail } = follow(upstream.onFour(POLLED_SNAPSHOT).url);
  await next();
  await upstream.stop();
  const { resume } = await fail();
  upstream.on("snapshot", json(wholeOf(POLLED_SNAPSHOT)));
  await upstream.start();
  await resume();
  expect((await next()).snapshot).toEqual(POLLED_SNAPSHOT);
});

test("if an upstream no longer offers /snapshot, the four resources are used", async ({ upstream }) => {
  upstream.on("snapshot", json(wholeOf(POLLED_SNAPSHOT)));
  const { next } = follow(upstream.url);
  await next();
  upstream.onFour(POLLED_SNAPSHOT);
  expect((await next()).snapshot).toEqual({ ...POLLED_SNAPSHOT, explanations: {}, outcomes: {} });
});

test("if /snapshot returns JSON of another form, the four resources are used", async ({ upstream }) => {
  upstream.onFour(POLLED_SNAPSHOT).on("snapshot", json({ hello: "world" }));
  const { next } = follow(upstream.url);
  expect((await next()).snapshot.flares).toEqual(POLLED_SNAPSHOT.flares);
});

test("charts without the avalanche group leave that chart empty, and an unknown form of newest an empty list", async ({
  upstream,
}) => {
  const { avalanche: _left, ...charts } = POLLED_SNAPSHOT.charts;
  upstream
    .onFour(POLLED_SNAPSHOT)
    .on("charts", json(charts))
    .on("newest", json(["something else"]));
  const { next } = follow(upstream.url);
  const { snapshot } = await next();
  expect(snapshot.charts).toEqual({ ...charts, avalanche: [] });
  expect(snapshot.newest).toEqual({ bsc: [] });
});

test("a base path is used, with or without a final slash", async ({ upstream }) => {
  for (const path of ["/trends", "/trends/"]) {
    const { source, controller } = follow(upstream.url + path);
    const poll = source.poll(controller.signal);
    poll.catch(() => {});
    await upstream.requested(upstream.asked.length + 1);
    expect(upstream.asked.at(-1)?.path).toBe("/trends/api/v1/snapshot");
    controller.abort();
  }
});

test("a 304 keeps the same snapshot object and saves its body", async ({ upstream }) => {
  upstream.on("snapshot", tagged('"v1"', wholeOf(POLLED_SNAPSHOT)));
  const { next, source } = follow(upstream.url);
  const first = await next();
  expect((await next()).snapshot).toBe(first.snapshot);
  expect(upstream.asked.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"v1"']);
  expect(source.stats().notModified).toBe(1);
});

test("each of the four resources has its own ETag", async ({ upstream }) => {
  upstream.onFour(POLLED_SNAPSHOT);
  upstream
    .on("flares", tagged('"f"', POLLED_SNAPSHOT.flares))
    .on("charts", tagged('"c"', POLLED_SNAPSHOT.charts));
  const { next, source } = follow(upstream.url);
  const first = await next();
  expect((await next()).snapshot).toBe(first.snapshot);
  expect(source.stats().notModified).toBe(2);
});

test("an unchanged item is the same object as in the previous poll", async ({ upstream }) => {
  const token = { ...SAMPLE_FLARE.token, address: "0x01" };
  const other = { ...SAMPLE_FLARE, id: "99999999-2222-5333-8444-555555555555", token };
  const later: Snapshot = {
    ...POLLED_SNAPSHOT,
    flares: { ...POLLED_SNAPSHOT.flares, pro: [other, SAMPLE_FLARE] },
  };
  upstream.on("snapshot", json(wholeOf(POLLED_SNAPSHOT)), json(wholeOf(later)));
  const { next } = follow(upstream.url);
  const { snapshot: before } = await next();
  const { snapshot: after } = await next();
  expect(after).toEqual(later);
  expect(after.flares.pro[1]).toBe(before.flares.pro[0]);
  expect(after.flares.free).toBe(before.flares.free);
  expect(after.charts).toBe(before.charts);
  expect(after.explanations).toBe(before.explanations);
});

test("polls start an interval apart, and a second one at the same time is rejected", async ({ upstream }) => {
  upstream.on("snapshot", json(wholeOf(POLLED_SNAPSHOT)));
  const { next, waits, source, controller } = follow(upstream.url, { intervalMs: 2_500 });
  await next();
  await next();
  await next();
  expect(waits()).toEqual([2_500, 2_500]);
  const running = next();
  await expect(source.poll(controller.signal)).rejects.toThrow(
    "a poll of the upstream is already in progress",
  );
  await running;
});

test("an abort ends a request in progress, and a wait, with the signal's reason", async ({ upstream }) => {
  upstream.on("snapshot", silent);
  const asking = follow(upstream.url);
  const poll = asking.source.poll(asking.controller.signal);
  await upstream.requested(1);
  asking.controller.abort(new Error("enough"));
  await expect(poll).rejects.toThrow("enough");

  upstream.on("snapshot", json(wholeOf(POLLED_SNAPSHOT)));
  const waiting = follow(upstream.url);
  await waiting.next();
  const second = waiting.source.poll(waiting.controller.signal);
  await waiting.untilWait();
  waiting.controller.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
});

test("an abort ends a poll even if the request ignores it", async () => {
  const deaf: typeof fetch = () => new Promise(() => {});
  const { source, controller } = follow("http://127.0.0.1:9", { fetch: deaf });
  const poll = source.poll(controller.signal);
  controller.abort(new Error("enough"));
  await expect(poll).rejects.toThrow("enough");
});

test("an event time that goes back is published unchanged", async ({ upstream }) => {
  const back = "2017-11-04T00:00:00.000Z";
  upstream.on("snapshot", json(wholeOf(POLLED_SNAPSHOT)), json(wholeOf(POLLED_SNAPSHOT, back)));
  const { next, source } = follow(upstream.url);
  expect((await next()).observedAtMs).toBe(OBSERVED);
  expect(await next()).toEqual({ observedAtMs: Date.parse(back), snapshot: POLLED_SNAPSHOT });
  expect(source.freshness()).toMatchObject({ state: "live", observed_at: back });
});

test("the facts and the event time of an upstream are those of its headers", async ({ upstream }) => {
  const reached = "2017-11-12T09:00:00.000Z";
  const headers = { "flarewire-facts": "trades, profiles", "flarewire-observed-at": reached };
  upstream.on("snapshot", json(wholeOf(POLLED_SNAPSHOT), headers));
  const { next, source } = follow(upstream.url);
  expect((await next()).observedAtMs).toBe(OBSERVED);
  expect(source.info.facts).toEqual({ trades: true, liquidity: false, listings: false, profiles: true });
  expect(source.freshness().observed_at).toBe(reached);
});

test("an invalid observed_at is counted and does not change the event time", async ({ upstream }) => {
  const broken = wholeOf(POLLED_SNAPSHOT, "2017-99-99T00:00:00.000Z");
  upstream.on("snapshot", json(wholeOf(POLLED_SNAPSHOT)), json(broken));
  const { next, reports } = follow(upstream.url);
  await next();
  expect((await next()).observedAtMs).toBe(OBSERVED);
  expect(reports).toMatchObject([{ list: "observed_at", action: "kept" }]);
});

test("the source's origin is the one that the upstream states, and live without one", async ({
  upstream,
}) => {
  const whole = wholeOf(POLLED_SNAPSHOT);
  upstream.on("snapshot", json(whole), json(whole, { "flarewire-origin": "recorded" }), json(whole));
  const { next, source } = follow(upstream.url);
  const origins = [source.info.origin];
  for (let poll = 0; poll < 3; poll += 1) {
    await next();
    origins.push(source.info.origin);
  }
  expect(origins).toEqual(["live", "live", "recorded", "live"]);
  expect(source.info.name).toBe("upstream");
});
