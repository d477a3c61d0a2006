import fc from "fast-check";
import { describe, expect } from "vitest";
import { toEpoch } from "../../../../src/base/protocol/index.ts";
import { chooseCoding } from "../../../../src/gateway/http/rest/accept-encoding.ts";
import { matchesEtag } from "../../../../src/gateway/http/rest/ready-answer.ts";
import { ResourceBodies } from "../../../../src/gateway/http/rest/resource-bodies.ts";
import { ENDPOINTS } from "../../../support/expect/contracts.ts";
import { shownLists } from "../../../support/expect/shown-lists.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";
import { test } from "./rest-fixture.ts";

/** All but the pair list, which has its own parameters and is too small to compress. */
const CONDITIONAL = (Object.keys(ENDPOINTS) as (keyof typeof ENDPOINTS)[]).filter(
  (name) => 304 in ENDPOINTS[name].responses && name !== "pairlist",
);
const RESOURCES = ["flares", "newest", "charts", "leaderboards"] as const;

test("serves each resource exactly as it is in the snapshot", async ({ rest }) => {
  for (const name of RESOURCES) {
    const { status, json } = await rest.ask("GET", `/api/v1/${name}`);
    expect(status).toBe(200);
    expect(json).toEqual(shownLists(SAMPLE_SNAPSHOT)[name]);
  }
});

test("[L2] the snapshot and its cursor describe the same moment, in the body and in the header fields", async ({
  rest,
}) => {
  for (let step = 0; step < 3; step += 1) {
    const { json, headers } = await rest.ask("GET", "/api/v1/snapshot");
    const shown = shownLists(rest.head.snapshot);
    expect(json).toEqual({
      cursor: `test1-${7 + step}`,
      observed_at: new Date(rest.head.observedAtMs).toISOString(),
      ...shown,
    });
    expect(headers["flarewire-cursor"]).toBe(`test1-${7 + step}`);
    rest.head.move({ flares: { ...SAMPLE_SNAPSHOT.flares, free: step === 0 ? [] : [SAMPLE_FLARE] } });
  }
});

test("every resource states cursor, age, state and origin of the data, and where the stream is", async ({
  makeRest,
}) => {
  const rest = await makeRest({ settings: { basePath: "/fw" } });
  for (const name of CONDITIONAL) {
    const { headers } = await rest.ask("GET", `/fw${ENDPOINTS[name].path}`);
    expect(headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-cache",
      vary: "Accept-Encoding",
      link: '</fw/api/v1/stream>; rel="alternate"; title="events over WebSocket"',
      "flarewire-cursor": "test1-7",
      "flarewire-data-age": "1",
      "flarewire-observed-at": "2017-11-12T08:36:00.000Z",
      "flarewire-source-state": "live",
      "flarewire-origin": "recorded",
      "flarewire-facts": "profiles",
    });
  }
});

test("[F3] the snapshot's bytes do not depend on the order in which its explanations arrived", ({ rest }) => {
  const explanations = Object.entries({ ...SAMPLE_SNAPSHOT.explanations, another: SAMPLE_EXPLANATION });
  const bodies = [explanations, explanations.toReversed()].map((entries) => {
    const snapshot = { ...SAMPLE_SNAPSHOT, explanations: Object.fromEntries(entries) };
    const { cursor, observedAtMs } = rest.head;
    return new ResourceBodies({ ready: true, cursor, observedAtMs, snapshot }).snapshot();
  });
  expect(bodies[0]?.version).toBe(bodies[1]?.version);
  expect(bodies[0]?.bytes.toString()).toBe(bodies[1]?.bytes.toString());
});

test("a stale source's last data is still served, with its state", async ({ rest }) => {
  rest.freshness = { ...rest.freshness, state: "down", reason: "refused", data_age_ms: 65_000 };
  const { status, headers } = await rest.ask("GET", "/api/v1/flares");
  expect(status).toBe(200);
  expect(headers).toMatchObject({ "flarewire-source-state": "down", "flarewire-data-age": "65" });
});

test("before the first snapshot, resources are not-ready rather than empty", async ({ rest }) => {
  rest.head.ready = false;
  for (const name of CONDITIONAL) {
    const { status, json, headers } = await rest.ask("GET", ENDPOINTS[name].path);
    expect(status).toBe(503);
    expect(json).toMatchObject({ type: "urn:flarewire:problem:not-ready" });
    expect(headers["retry-after"]).toBe("5");
    expect(headers).not.toHaveProperty("etag");
  }
});

test("a resource rejects unknown query parameters, so that a full list is never mistaken for a filtered one", async ({
  rest,
}) => {
  for (const name of CONDITIONAL) {
    const { status, json } = await rest.ask("GET", `${ENDPOINTS[name].path}?limit=1`);
    expect(status).toBe(400);
    const hasGroup = ["flares", "snapshot", "charts", "leaderboards"].includes(name);
    expect(json).toMatchObject({
      type: "urn:flarewire:problem:invalid-parameter",
      field: "limit",
      bound: hasGroup ? "a parameter of this resource: group" : "left out",
      detail: `unknown parameter "limit"; ${hasGroup ? "known: group" : "none is known here"}`,
    });
  }
  const { json } = await rest.ask("GET", `/api/v1/flares?${"x".repeat(99)}[]=%F0%9F%94%A5`);
  expect(json).toMatchObject({ field: "x".repeat(64) });
  for (const query of ["?", "?&"]) {
    const { status } = await rest.ask("GET", `/api/v1/flares${query}`);
    expect(status).toBe(200);
  }
});

test("pages and probes ignore parameters, which campaigns and load balancers add", async ({ rest }) => {
  for (const path of ["/healthz", "/openapi.json", "/docs"]) {
    const { status } = await rest.ask("GET", `${path}?utm_source=letter`);
    expect(status, path).toBe(200);
  }
});

describe("entity tags", () => {
  test("a resource's tag changes with the resource, but not with others", async ({ rest }) => {
    const tags = async () =>
      Promise.all(RESOURCES.map(async (name) => (await rest.ask("GET", `/api/v1/${name}`)).headers.etag));
    const before = await tags();
    rest.head.move({ newest: { bsc: [] } });
    const after = await tags();
    expect(after[1]).not.toBe(before[1]);
    expect(after.toSpliced(1, 1)).toEqual(before.toSpliced(1, 1));
    expect((await rest.ask("GET", "/api/v1/flares")).headers["flarewire-cursor"]).toBe("test1-8");
  });

  test("a part that is rebuilt with equal bytes keeps its tag", async ({ rest }) => {
    const before = await rest.ask("GET", "/api/v1/flares");
    rest.head.move({ flares: structuredClone(SAMPLE_SNAPSHOT.flares) });
    const after = await rest.ask("GET", "/api/v1/flares");
    expect(after.headers.etag).toBe(before.headers.etag);
  });

  test("another process with the same bytes has the same tags, also in another epoch; other bytes have other tags", async ({
    makeRest,
  }) => {
    const rest = await makeRest();
    const again = await makeRest();
    again.head.cursor = { ...again.head.cursor, epoch: toEpoch("other") };
    const seen = { flares: new Set<unknown>(), snapshot: new Set<unknown>() };
    for (const server of [rest, again]) {
      for (const pro of [[SAMPLE_FLARE], [], [SAMPLE_FLARE]]) {
        server.head.move({ flares: { ...SAMPLE_SNAPSHOT.flares, pro } });
        for (const [name, tags] of Object.entries(seen))
          tags.add((await server.ask("GET", `/api/v1/${name}`)).headers.etag);
      }
    }
    // The snapshot contains the cursor, which always differs.
    expect([seen.flares.size, seen.snapshot.size]).toEqual([2, 6]);
  });

  test("the tag of one form results in 304 for that form only, with the fields of a 200", async ({
    rest,
  }) => {
    for (const name of CONDITIONAL) {
      const { path } = ENDPOINTS[name];
      for (const coding of ["identity", "gzip", "br"]) {
        const full = await rest.ask("GET", path, { "accept-encoding": coding });
        const etag = String(full.headers.etag);
        const ask = (tag: string, accepted = coding) =>
          rest.ask("GET", path, { "accept-encoding": accepted, "if-none-match": tag });
        const same = await ask(etag);
        expect(same.status).toBe(304);
        for (const field of [
          "etag",
          "cache-control",
          "vary",
          "link",
          "flarewire-cursor",
          "flarewire-data-age",
        ]) {
          expect(same.headers[field], field).toBe(full.headers[field]);
        }
        expect(same.headers).not.toHaveProperty("content-length");
        expect((await ask(`"older-1", W/${etag}`)).status).toBe(304);
        expect((await ask("*")).status).toBe(304);
        expect((await ask('"older-1", W/"x"')).status).toBe(200);
        expect((await ask(etag, coding === "br" ? "gzip" : "br")).status).toBe(200);
      }
    }
  });

  test("a changed snapshot no longer matches the previous tag", async ({ rest }) => {
    const { headers } = await rest.ask("GET", "/api/v1/snapshot");
    const ask = () => rest.ask("GET", "/api/v1/snapshot", { "if-none-match": String(headers.etag) });
    rest.head.observedAtMs += 1_000;
    expect((await ask()).status).toBe(304);
    rest.head.move({}, 1);
    expect((await ask()).status).toBe(200);
  });

  test("a tag matches within any valid list, and nowhere else", () => {
    expect(matchesEtag('W/"a,b", "c"', '"a,b"')).toBe(true);
    expect(matchesEtag('"a" ,W/"c"', '"c"')).toBe(true);
    expect(matchesEtag(" * ", '"c"')).toBe(true);
    for (const field of ["", "c", '"c', 'c"', '"C"', '"c-gzip"', '"*"', ",,,"]) {
      expect(matchesEtag(field, '"c"'), field).toBe(false);
    }
  });
});

describe("encodings", () => {
  test("the coding with the highest weight is chosen", () => {
    const cases: Readonly<Record<string, ReturnType<typeof chooseCoding>>> = {
      "": "identity",
      gzip: "gzip",
      "x-gzip": "gzip",
      "GZIP;Q=1.0": "gzip",
      "gzip, deflate, br, zstd": "br",
      "gzip;q=1.0, br;q=0.5": "gzip",
      "gzip;q=0, *;q=0.1": "br",
      "*": "br",
      "*;q=0": "identity",
      "br;q=0, gzip;q=0": "identity",
      "identity;q=0": "identity",
      "identity;q=0.5, gzip;q=0.4": "identity",
      "identity;q=0.5, gzip;q=0.5": "gzip",
      "gzip;q=high": "identity",
      "gzip;q=2": "identity",
      " , ;q=1, br ; q=0.001": "br",
      deflate: "identity",
    };
    for (const [field, coding] of Object.entries(cases)) expect(chooseCoding(field), field).toBe(coding);
    expect(chooseCoding(undefined)).toBe("identity");
  });

  test("a body fetched with any Accept-Encoding decodes to the same JSON", async ({ rest }) => {
    const weight = fc.constantFrom("", ";q=0", ";q=0.3", ";q=1", "; q=0.999", ";q=x", ";");
    const name = fc.constantFrom("gzip", "br", "identity", "*", "x-gzip", "deflate", "zstd", "GZip", "");
    const member = fc.tuple(name, weight).map((parts) => parts.join(""));
    const field = fc.oneof(
      fc.array(member, { maxLength: 6 }).map((members) => members.join(", ")),
      fc.stringMatching(/^[\x20-\x7e]{0,40}$/),
    );
    await fc.assert(
      fc.asyncProperty(field, fc.constantFrom(...RESOURCES), async (accepted, resource) => {
        const { status, json, headers } = await rest.ask("GET", `/api/v1/${resource}`, {
          "accept-encoding": accepted,
        });
        expect(status).toBe(200);
        expect(json).toEqual(shownLists(SAMPLE_SNAPSHOT)[resource]);
        expect(headers.vary).toBe("Accept-Encoding");
      }),
      { numRuns: 300 },
    );
  });

  test("[L6] each form of each body is created once for any number of requests", ({ rest }) => {
    const bodies = new ResourceBodies(rest.head);
    for (const read of [() => bodies.resource("flares"), () => bodies.snapshot()]) {
      for (const coding of ["identity", "gzip", "br"] as const) {
        expect(read().form(coding)).toBe(read().form(coding));
      }
    }
  });

  test("each compressed form is smaller than the plain body, and has its own tag", async ({ rest }) => {
    const forms = await Promise.all(
      ["identity", "gzip", "br"].map((coding) =>
        rest.ask("GET", "/api/v1/snapshot", { "accept-encoding": coding }),
      ),
    );
    const [plain, ...compressed] = forms.map(({ body }) => body.length);
    for (const length of compressed) expect(length).toBeLessThan(plain ?? 0);
    expect(forms.map(({ headers }) => headers["content-encoding"])).toEqual([undefined, "gzip", "br"]);
    expect(new Set(forms.map(({ headers }) => headers.etag)).size).toBe(3);
  });

  test("a body of a few bytes is sent plain even if the client accepts compression", async ({ rest }) => {
    rest.head.move({ newest: { bsc: [] } });
    const { headers, json } = await rest.ask("GET", "/api/v1/newest", { "accept-encoding": "gzip, br" });
    expect(headers).not.toHaveProperty("content-encoding");
    expect(json).toEqual({ bsc: [] });
  });
});

describe("HEAD", () => {
  test("has the fields of GET, including the length, and no body", async ({ rest }) => {
    for (const { path } of Object.values(ENDPOINTS)) {
      const get = await rest.ask("GET", path, { "accept-encoding": "gzip" });
      const head = await rest.ask("HEAD", path, { "accept-encoding": "gzip" });
      expect(head.status).toBe(get.status);
      expect({ ...head.headers, date: "" }).toEqual({ ...get.headers, date: "" });
      expect(Number(head.headers["content-length"])).toBe(get.body.length);
    }
  });

  test("is 304 if GET is", async ({ rest }) => {
    const { headers } = await rest.ask("HEAD", "/api/v1/charts");
    const again = await rest.ask("HEAD", "/api/v1/charts", { "if-none-match": String(headers.etag) });
    expect(again.status).toBe(304);
  });
});
