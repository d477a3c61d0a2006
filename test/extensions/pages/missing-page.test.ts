import fastify, { type FastifyInstance, type LightMyRequestResponse } from "fastify";
import { expect, test } from "vitest";
import { PAGES } from "../../../src/clients/dashboard/route.ts";
import { createHistoryReader, openSqliteHistoryStore } from "../../../src/extensions/history/index.ts";
import { addPageRoutes } from "../../../src/extensions/pages/page-routes.ts";
import { addPermalinkRoutes } from "../../../src/extensions/permalinks/permalink-routes.ts";
import { collectContracts } from "../../../src/gateway/http/contract/route-contract.ts";
import { completeHttpSettings } from "../../../src/gateway/http/http-settings.ts";
import { PROBLEM_TYPE } from "../../../src/gateway/http/problems/problem.ts";
import { sendProblem } from "../../../src/gateway/http/problems/send-problem.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { LedMarket } from "../../examples/led-gateway.ts";
import { FRESH, HandHead, INFO } from "../../gateway/http/rest/rest-fixture.ts";
import type { Finish } from "../../support/servers/edges.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

async function serve(finish: Finish, settings: object = {}) {
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent", ...settings });
  const gateway = await startGateway(config, { source: new LedMarket() });
  finish(() => gateway.stop());
  return gateway.url;
}

test("a browser that opens the name of a page, or of an earlier one, is redirected to it in the dashboard, below any path", async ({
  onTestFinished,
}) => {
  const root = await serve(onTestFinished);
  const below = await serve(onTestFinished, { basePath: "/flarewire" });
  for (const base of [root, `${below}/flarewire`]) {
    for (const name of [...PAGES, "flares", "newest", "charts", "leaderboards", "events"]) {
      for (const path of [`${name}`, `${name}/`, `${name}?a=b`]) {
        const { status, headers } = await fetch(`${base}/${path}`, { headers: BROWSER, redirect: "manual" });
        const to = new URL(headers.get("location") ?? "", `${base}/${path}`).href;
        expect([status, to]).toEqual([302, `${base}/#/${name}`]);
        expect(headers.get("vary")).toContain("Accept");
      }
    }
  }
});

test("a browser gets a small page for an unknown path; other clients and the API's paths get a problem", async ({
  onTestFinished,
}) => {
  const url = await serve(onTestFinished);
  const page = await fetch(`${url}/<b>nothing</b>`, { headers: BROWSER });
  const text = await page.text();
  expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
  expect(text).toContain('<a href="/">dashboard</a>');
  expect(text).not.toContain("<b>");
  const head = await fetch(`${url}/nothing`, { method: "HEAD", headers: BROWSER });
  expect([head.status, await head.text()]).toEqual([404, ""]);
  for (const [path, accept] of [
    ["/charts", "*/*"],
    ["/nothing", "application/json"],
    ["/api/v1/nothing", BROWSER.accept],
  ] as const) {
    const { status, headers } = await fetch(`${url}${path}`, { headers: { accept } });
    expect([status, headers.get("content-type")]).toEqual([404, "application/problem+json"]);
  }
});

/** Creates a server without further routes, which is closed after the test. */
function bareApp(finish: Finish): FastifyInstance {
  const app = fastify();
  collectContracts(app);
  finish(() => app.close());
  return app.setErrorHandler((error, request, reply) =>
    sendProblem(error, request, reply, () => request.log),
  );
}

/** Returns the body for GET. Checks status and fields, which are equal for HEAD. */
async function missing(
  app: FastifyInstance,
  url: string,
  headers: object,
  expected: object,
): Promise<string> {
  const fieldsOf = ({ statusCode, headers }: LightMyRequestResponse) => ({
    statusCode,
    ...headers,
    date: "",
  });
  const page = await app.inject({ url, headers: { ...headers } });
  expect(fieldsOf(page), url).toMatchObject({ statusCode: 404, "cache-control": "no-store", ...expected });
  const head = await app.inject({ method: "HEAD", url, headers: { ...headers } });
  expect([fieldsOf(head), head.body], url).toEqual([fieldsOf(page), ""]);
  return page.body;
}

/** Checks both responses at a path whose pages are not built. Caches must distinguish them. */
async function expectUnbuilt(app: FastifyInstance, url: string, detail: string): Promise<void> {
  const page = { "content-type": "text/html; charset=utf-8", vary: "Accept" };
  const body = await missing(app, url, BROWSER, page);
  expect(body).toContain("Run <code>npm run pages</code>");
  expect(body).toContain('<a href="/fw/docs">documents</a>');
  const problem = await missing(
    app,
    url,
    { accept: "*/*" },
    { "content-type": PROBLEM_TYPE, vary: "Accept" },
  );
  expect(JSON.parse(problem)).toMatchObject({ detail });
}

test("if the pages are not built, a browser gets instructions to build them; other clients get a problem", async ({
  onTestFinished,
}) => {
  const app = bareApp(onTestFinished);
  addPageRoutes(app, { basePath: "/fw", corsOrigins: "*" }, new Map());
  const how = "npm run pages builds it, with development dependencies";
  await expectUnbuilt(app, "/", `the dashboard is not built: ${how}`);
  await expectUnbuilt(app, "/widgets", `the widget is not built: ${how}`);
  const file = await missing(app, "/assets/a.js", BROWSER, { "content-type": PROBLEM_TYPE });
  expect(JSON.parse(file)).toMatchObject({ detail: "the dashboard has no such file" });
});

test("if the pages are not built, the pages of flares and tokens state it too", async ({
  onTestFinished,
}) => {
  const app = bareApp(onTestFinished);
  const store = openSqliteHistoryStore({ maxAgeMs: 1_000, maxBytes: 2 ** 20 });
  onTestFinished(() => store.close());
  addPermalinkRoutes(app, {
    history: createHistoryReader(store),
    head: new HandHead(),
    freshness: () => FRESH,
    info: () => INFO,
    settings: completeHttpSettings({ basePath: "/fw" }),
    pages: new Map(),
  });
  for (const url of ["/flare/x", "/token/bsc/x"])
    await expectUnbuilt(app, url, "the dashboard is not built: npm run pages builds it");
});
