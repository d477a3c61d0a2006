import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import {
  cutBody,
  follow,
  json,
  type Script,
  ScriptedUpstream,
  silent,
  slowBody,
  TIMEOUT_MS,
  tagged,
  test,
  text,
  wholeOf,
} from "../../support/servers/scripted-upstream.ts";
import { POLLED_SNAPSHOT, SAMPLE_FLARE } from "../../support/world/samples.ts";

const WHOLE = wholeOf(POLLED_SNAPSHOT);
const GOOD = json(WHOLE);

const html = text(200, "<!doctype html><title>Sign in</title>", {
  "content-type": "text/html; charset=utf-8",
});
const redirect = text(302, "", { location: "/elsewhere" });
const huge: Script = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const more = () => {
    while (!response.destroyed && response.write(" ".repeat(65_536)));
  };
  response.on("drain", more);
  more();
};
const bomb: Script = (response) => {
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  response.writeHead(200, headers).end(gzipSync(" ".repeat(3_000_000)));
};

const FAULTS: readonly (readonly [string, Script, string])[] = [
  ["a 500", text(500, "{}"), "returned 500"],
  ["a 502 in HTML", text(502, "<html>", { "content-type": "text/html" }), "returned 502"],
  ["a 401", text(401, "{}"), "returned 401"],
  ["a page of HTML", html, "returned text/html instead of JSON"],
  ["no content type", text(200, "{}", {}), "returned no content type instead of JSON"],
  ["a redirect", redirect, "returned 302, and redirects are not followed"],
  ["a 304 to an unconditional request", text(304, ""), "returned 304"],
  ["a 204", text(204, ""), "returned 204"],
  ["malformed JSON", text(200, '{"flares":'), "returned malformed JSON"],
  ["an empty body", text(200, ""), "returned malformed JSON"],
  ["a body cut off", cutBody, "broke off the connection"],
  ["a connection cut off", (response) => response.destroy(), "broke off the connection"],
  ["a body larger than allowed", huge, "returned more than 1000000 bytes"],
  ["a small body that unpacks to one larger than allowed", bomb, "returned more than 1000000 bytes"],
  ["an announced body larger than allowed", json(" ".repeat(1_000_001)), "returned more than 1000000 bytes"],
  [
    "text that is not UTF-8",
    (r) => r.writeHead(200, { "content-type": "application/json" }).end(Buffer.from([34, 255, 34])),
    "returned text that is not UTF-8",
  ],
  ["a JSON null", json(null), "returned unexpected JSON: flares.free is not an array"],
  ["a JSON array", json([]), "returned unexpected JSON: flares.free is not an array"],
  ["an object without flares", json({ flares: {} }), "returned unexpected JSON: flares.free is not an array"],
  [
    "JSON nested a hundred thousand deep",
    text(200, "[".repeat(100_000) + "]".repeat(100_000)),
    "returned unexpected JSON",
  ],
];

for (const [what, script, reason] of FAULTS) {
  test(`after ${what} the last good snapshot stays, freshness has the reason, and the next response restores it`, async ({
    upstream,
  }) => {
    upstream.on("snapshot", GOOD, script, GOOD);
    const { next, fail, source, clock } = follow(upstream.url, { maxBytes: 1_000_000 });
    const { snapshot } = await next();
    const { resume } = await fail();
    expect(source.freshness()).toMatchObject({ state: "live", reason: "", data_age_ms: 1_000 });
    clock.advance(10_000);
    const { state, reason: reported, data_age_ms } = source.freshness();
    expect({ state, data_age_ms }).toEqual({ state: "down", data_age_ms: 11_000 });
    expect(reported).toContain(`/snapshot ${reason}`);
    expect((await resume()).snapshot).toBe(snapshot);
    expect(source.freshness()).toMatchObject({ state: "live", reason: "", data_age_ms: 0 });
    clock.advance(11_000);
    expect(source.freshness().reason).toBe("no response for more than 10000 ms");
    expect(upstream.paths).toEqual(["snapshot", "snapshot", "snapshot"]);
  });
}

test("an upstream that refuses connections from the start is down at once, and is used when it accepts them", async () => {
  const upstream = new ScriptedUpstream().on("snapshot", GOOD);
  await upstream.start();
  await upstream.stop();
  const { fail, source } = follow(upstream.url);
  expect(source.freshness()).toMatchObject({ state: "stale", reason: "the upstream has not responded yet" });
  const { resume } = await fail();
  expect(source.freshness()).toEqual({
    state: "down",
    reason: "/snapshot refused the connection",
    observed_at: null,
    last_success_at: null,
    data_age_ms: 0,
  });
  await upstream.start();
  expect((await resume()).snapshot).toEqual(POLLED_SNAPSHOT);
  expect(source.freshness().state).toBe("live");
  await upstream.stop();
});

test("missing headers time out", async ({ upstream }) => {
  upstream.on("snapshot", silent, GOOD);
  const { fail, clock, source } = follow(upstream.url);
  const failing = fail();
  await upstream.requested(1);
  clock.advance(TIMEOUT_MS);
  const { resume } = await failing;
  expect(source.freshness()).toMatchObject({
    state: "down",
    reason: `/snapshot did not respond within ${TIMEOUT_MS / 1_000} s`,
  });
  expect((await resume()).snapshot).toEqual(POLLED_SNAPSHOT);
});

test("a body that stops halfway times out", async ({ upstream }) => {
  upstream.on("snapshot", slowBody, GOOD);
  const headersCame = Promise.withResolvers<void>();
  const { fail, clock, source } = follow(upstream.url, {
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      headersCame.resolve();
      return response;
    },
  });
  const failing = fail();
  await headersCame.promise;
  clock.advance(TIMEOUT_MS);
  const { resume } = await failing;
  expect(source.freshness().reason).toBe(`/snapshot did not respond within ${TIMEOUT_MS / 1_000} s`);
  expect((await resume()).snapshot).toEqual(POLLED_SNAPSHOT);
});

test("a host name whose lookup hangs times out", async () => {
  const hanging: typeof fetch = () => new Promise(() => {});
  const { fail, clock, source } = follow("http://nowhere.example", { fetch: hanging });
  const failing = fail();
  clock.advance(TIMEOUT_MS);
  await failing;
  expect(source.freshness().reason).toContain("did not respond within");
});

test("a host name that does not resolve is reported as such", async () => {
  const cause = Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" });
  const { fail, source } = follow("http://nowhere.example", {
    fetch: () => Promise.reject(new TypeError("fetch failed", { cause })),
  });
  await fail();
  expect(source.freshness().reason).toBe("/snapshot has a host name that does not resolve");
});

test("after a rate limit with Retry-After, the wait is exactly as long, in seconds or until a date", async ({
  upstream,
}) => {
  const until = text(503, "", {
    date: "Sun, 12 Nov 2017 08:00:00 GMT",
    "retry-after": "Sun, 12 Nov 2017 08:00:42 GMT",
  });
  upstream.on(
    "snapshot",
    text(429, "", { "retry-after": "17" }),
    until,
    text(429, "", { "retry-after": "86400" }),
    GOOD,
  );
  const { next, waits } = follow(upstream.url);
  await next();
  expect(waits()).toEqual([17_000, 42_000, 300_000]);
});

test("after a rate limit without Retry-After and after server errors, the wait grows until a success", async ({
  upstream,
}) => {
  const busy = text(429, "");
  const broken = text(500, "");
  upstream.on("snapshot", busy, broken, busy, broken, broken, broken, GOOD, busy, GOOD);
  const { next, waits } = follow(upstream.url, { random: () => 0.5 });
  await next();
  await next();
  expect(waits()).toEqual([1_500, 2_500, 4_500, 8_500, 15_500, 15_500, 1_000, 1_500]);
});

test("if some of the four resources fail, the others are updated, and freshness names the one that fails", async ({
  upstream,
}) => {
  upstream.onFour(POLLED_SNAPSHOT);
  const { next, source, clock } = follow(upstream.url);
  await next();
  const pro = [{ ...SAMPLE_FLARE, recent_price_change: 99 }];
  upstream.on("flares", json({ ...POLLED_SNAPSHOT.flares, pro }));
  upstream.on("leaderboards", text(429, "", { "retry-after": "15" }));
  const { snapshot } = await next();
  expect(snapshot.flares.pro).toEqual(pro);
  expect(snapshot.leaderboards).toEqual(POLLED_SNAPSHOT.leaderboards);
  expect(source.freshness().state).toBe("live");
  clock.advance(10_000);
  expect(source.freshness()).toMatchObject({ state: "stale", reason: "/leaderboards returned 429" });
  upstream.onFour(POLLED_SNAPSHOT);
  await next();
  expect(source.freshness()).toMatchObject({ state: "live", reason: "" });
});

test("the longest wait that the four resources request counts, whichever fails first", async ({
  upstream,
}) => {
  upstream.onFour(POLLED_SNAPSHOT);
  const { next, waits } = follow(upstream.url);
  await next();
  const waiting = (seconds: string) => text(429, "", { "retry-after": seconds });
  upstream.on("flares", waiting("12"), json(POLLED_SNAPSHOT.flares));
  upstream.on("charts", waiting("40"), json(POLLED_SNAPSHOT.charts));
  upstream.on("newest", waiting("7"), json(POLLED_SNAPSHOT.newest));
  await next();
  await next();
  expect(waits()).toContain(40_000);
  expect(waits().filter((ms) => ms > 1_000)).toEqual([40_000]);
});

test("nothing is accepted before all four resources have responded once", async ({ upstream }) => {
  upstream.onFour(POLLED_SNAPSHOT).on("charts", text(500, ""), json(POLLED_SNAPSHOT.charts));
  const { next, source } = follow(upstream.url);
  expect((await next()).snapshot).toEqual({ ...POLLED_SNAPSHOT, explanations: {}, outcomes: {} });
  expect(source.stats()).toMatchObject({ failed: 1, succeeded: 1 });
});

test("the first response must have all three lists of flares, because it is the base of all events", async ({
  upstream,
}) => {
  const { pro, ...rest } = POLLED_SNAPSHOT.flares;
  upstream.onFour(POLLED_SNAPSHOT).on("flares", json(rest), json({ ...rest, pro }));
  const { fail, source } = follow(upstream.url);
  const { resume } = await fail();
  expect(source.freshness().reason).toContain("flares.pro is not an array");
  expect((await resume()).snapshot.flares).toEqual(POLLED_SNAPSHOT.flares);
});

test("the age and the state that the upstream reports for its own data count", async ({ upstream }) => {
  const respondWith = (headers: Record<string, string>) => tagged('"v1"', WHOLE, headers);
  upstream.on(
    "snapshot",
    respondWith({ "flarewire-data-age": "4.5" }),
    respondWith({ "flarewire-data-age": "11" }),
    respondWith({ "flarewire-data-age": "2", "flarewire-source-state": "stale" }),
    respondWith({ "flarewire-source-state": "down" }),
    respondWith({}),
    respondWith({ "flarewire-data-age": "-1e9", "flarewire-source-state": "LIVE!" }),
    respondWith({ "flarewire-data-age": "0", "flarewire-source-state": "live" }),
  );
  const { next, source } = follow(upstream.url);
  const reported: unknown[] = [];
  for (let poll = 0; poll < 7; poll += 1) {
    await next();
    const { state, reason, data_age_ms } = source.freshness();
    reported.push([state, reason, data_age_ms]);
  }
  expect(reported).toEqual([
    ["live", "", 4_500],
    ["stale", "the upstream's data is older than 10000 ms", 11_000],
    ["stale", "the upstream reports that its source is stale", 2_000],
    ["down", "the upstream reports that its source is down", 2_000],
    ["down", "the upstream reports that its source is down", 2_000],
    ["down", "the upstream reports that its source is down", 2_000],
    ["live", "", 0],
  ]);
});

test("of the four resources, the highest age and the worst state count", async ({ upstream }) => {
  const { flares, charts, newest } = POLLED_SNAPSHOT;
  upstream.onFour(POLLED_SNAPSHOT);
  upstream.on("flares", json(flares, { "flarewire-data-age": "3", "flarewire-origin": "simulated" }));
  upstream.on("newest", json(newest, { "flarewire-data-age": "8" }), json(newest));
  upstream.on("charts", json(charts), json(charts, { "flarewire-source-state": "stale" }));
  const { next, source } = follow(upstream.url);
  await next();
  expect(source.freshness()).toMatchObject({ state: "live", data_age_ms: 8_000 });
  expect(source.info.origin).toBe("simulated");
  await next();
  expect(source.freshness()).toMatchObject({ state: "stale", data_age_ms: 3_000 });
  upstream.on("leaderboards", json(POLLED_SNAPSHOT.leaderboards, { "flarewire-source-state": "down" }));
  await next();
  expect(source.freshness()).toMatchObject({ state: "down" });
});

test("the age of freshness grows while no poll runs", async ({ upstream }) => {
  upstream.on("snapshot", GOOD);
  const { next, source, clock } = follow(upstream.url);
  await next();
  const at = new Date(clock.now()).toISOString();
  clock.advance(10_001);
  expect(source.freshness()).toEqual({
    state: "stale",
    reason: "no response for more than 10000 ms",
    observed_at: "2017-11-12T08:30:00.000Z",
    last_success_at: at,
    data_age_ms: 10_001,
  });
});
