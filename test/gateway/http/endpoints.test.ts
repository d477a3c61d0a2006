import { describe, expect } from "vitest";
import { DOCUMENTS, GUIDES, TEXTS, TUTORIALS } from "../../../src/extensions/docs/index.ts";
import { ENDPOINTS } from "../../support/expect/contracts.ts";
import { SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";
import { FRESH, test } from "./rest/rest-fixture.ts";

test("the table of endpoints and the server's routes are the same", async ({ makeRest }) => {
  for (const basePath of ["", "/a/b-c"]) {
    const routes: string[] = [];
    const { app } = await makeRest({ settings: { basePath } });
    const above: string[] = [];
    for (const line of app.printRoutes({ commonPrefix: false }).split("\n")) {
      const [, indent = "", path, methods] = /^(.*?)── (\S+) \(([^)]+)\)/.exec(line) ?? [];
      if (!path) continue;
      const depth = Math.floor(indent.length / 4);
      above.splice(depth, Number.POSITIVE_INFINITY, `${above[depth - 1] ?? ""}${path}`);
      routes.push(`${above[depth]} ${methods}`);
    }
    const table = Object.values(ENDPOINTS).flatMap(({ path, tag }) =>
      tag === "probes" && basePath !== "" ? [path, basePath + path] : [basePath + path],
    );
    const guides = [...GUIDES, ...TUTORIALS];
    const operations = [{ path: "/docs/rest/:name" }];
    table.push(...[...Object.values(DOCUMENTS), ...guides, ...operations].map(({ path }) => basePath + path));
    table.push(...TEXTS.map(({ path }) => `${basePath}${path}.md`));
    // A page's URL with a final slash redirects to the page.
    const own = Object.values(DOCUMENTS).filter(({ type }) => type === "text/html");
    const pages = [...own, ...guides, ...operations];
    table.push(...pages.map(({ path }) => `${basePath}${path}/`));
    // With a base path, the URL without the final slash redirects to the one with it.
    table.push(`${basePath}/`, ...(basePath === "" ? [] : [basePath]), `${basePath}/assets/:name`);
    table.push(`${basePath}/widget.js`, `${basePath}/flare-strip.js`, `${basePath}/widgets`);
    const files = ["icon-192.png", "icon-512.png", "icon-maskable.png", "manifest.webmanifest", "worker.js"];
    table.push(...files.map((file) => `${basePath}/${file}`));
    expect(routes.toSorted()).toEqual(table.map((path) => `${path} GET, HEAD`).toSorted());
  }
});

test("additional routes are below the base path, and Allow contains their methods", async ({ makeRest }) => {
  const rest = await makeRest({
    settings: { basePath: "/fw" },
    register: async ({ app }) => {
      app.get("/api/v1/more", () => ({}));
    },
  });
  expect((await rest.ask("GET", "/fw/api/v1/more")).status).toBe(200);
  expect((await rest.ask("GET", "/api/v1/more")).status).toBe(404);
  expect((await rest.ask("POST", "/fw/api/v1/more")).headers.allow).toBe("GET, OPTIONS");
});

test("an error in the setup of additional routes makes the server's creation fail", async ({ makeRest }) => {
  const broken = makeRest({ register: () => Promise.reject(new Error("no such part")) });
  await expect(broken).rejects.toThrow("no such part");
});

test("forwarded addresses count only from trusted proxies", async ({ makeRest }) => {
  for (const [trustProxy, ip] of [
    [false, "127.0.0.1"],
    [[], "127.0.0.1"],
    [["10.0.0.0/8", "::1"], "127.0.0.1"],
    [["loopback"], "203.0.113.9"],
    [true, "203.0.113.9"],
  ] as const) {
    const rest = await makeRest({
      settings: { trustProxy },
      register: ({ app }) => void app.get("/ip", (request) => ({ ip: request.ip })),
    });
    const { json } = await rest.ask("GET", "/ip", { "x-forwarded-for": "203.0.113.9" });
    expect(json, String(trustProxy)).toEqual({ ip });
  }
});

test("a hostile Host or X-Forwarded-Host appears in no response", async ({ rest }) => {
  for (const { path } of [...Object.values(ENDPOINTS), { path: "/nothing" }]) {
    const { headers, body } = await rest.ask("GET", path, {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
    });
    expect(JSON.stringify(headers) + body.toString()).not.toContain("evil");
  }
});

describe("probes", () => {
  test("healthz is 200 with version and uptime, regardless of the source", async ({ rest }) => {
    rest.clock.advance(61_900);
    rest.ready = false;
    rest.freshness = { ...FRESH, state: "down", observed_at: null };
    const { status, json, headers } = await rest.ask("GET", "/healthz");
    expect(status).toBe(200);
    expect(json).toEqual({ status: "ok", version: expect.stringMatching(/^\d+\.\d+\.\d+/), uptime_s: 61 });
    expect(headers["cache-control"]).toBe("no-store");
  });

  test("readyz depends on the source's state and the drain", async ({ rest }) => {
    const ask = async () => {
      const { status, json, headers } = await rest.ask("GET", "/readyz");
      return { status, json, retry: headers["retry-after"], state: headers["flarewire-source-state"] };
    };
    expect(await ask()).toEqual({
      status: 200,
      json: { status: "ready", ...FRESH },
      retry: undefined,
      state: "live",
    });
    const troubles = [
      [{ observed_at: null, state: "down", reason: "refused" }, "not-ready", "the source is down: refused"],
      [{ state: "stale", reason: "" }, "not-ready", "the source is stale"],
      [{ state: "down", reason: "429" }, "not-ready", "the source is down: 429"],
    ] as const;
    for (const [trouble, code, detail] of troubles) {
      rest.freshness = { ...FRESH, ...trouble };
      expect(await ask()).toMatchObject({
        status: 503,
        retry: "5",
        state: trouble.state,
        json: {
          type: `urn:flarewire:problem:${code}`,
          title: "the server is not ready; the detail says why",
          detail,
        },
      });
    }
    rest.freshness = FRESH;
    expect((await ask()).status).toBe(200);
    rest.head.ready = false;
    expect(await ask()).toMatchObject({
      status: 503,
      json: { detail: "no data yet: the market's past is still being read" },
    });
    rest.head.ready = true;
    rest.ready = false;
    expect(await ask()).toMatchObject({
      status: 503,
      retry: "5",
      json: { type: "urn:flarewire:problem:draining" },
    });
  });

  test("both are served at the root and below the base path", async ({ makeRest }) => {
    const rest = await makeRest({ settings: { basePath: "/fw" } });
    for (const url of ["/healthz", "/readyz", "/fw/healthz", "/fw/readyz"]) {
      expect((await rest.ask("GET", url)).status).toBe(200);
    }
    expect((await rest.ask("GET", "/api/v1/flares")).status).toBe(404);
    expect((await rest.ask("GET", "/fw/api/v1/flares")).json).toEqual(SAMPLE_SNAPSHOT.flares);
  });
});
