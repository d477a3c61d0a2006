import fastify from "fastify";
import { expect, test } from "vitest";
import { PAGES } from "../../src/dashboard/route.ts";
import { addPageRoutes } from "../../src/http/pages/page-routes.ts";
import { sendProblem } from "../../src/http/problems/send-problem.ts";
import { createConfig, startGateway } from "../../src/index.ts";
import { LedMarket } from "../examples/led-gateway.ts";
import type { Finish } from "../support/edges.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

async function serve(finish: Finish, settings: object = {}) {
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent", ...settings });
  const gateway = await startGateway(config, { source: new LedMarket() });
  finish(() => gateway.stop());
  return gateway.url;
}

test("a browser that opens the name of a list is led to that list of the dashboard, below any path", async ({
  onTestFinished,
}) => {
  const root = await serve(onTestFinished);
  const below = await serve(onTestFinished, { basePath: "/flarewire" });
  for (const base of [root, `${below}/flarewire`]) {
    for (const name of PAGES) {
      for (const path of [`${name}`, `${name}/`, `${name}?a=b`]) {
        const { status, headers } = await fetch(`${base}/${path}`, { headers: BROWSER, redirect: "manual" });
        const to = new URL(headers.get("location") ?? "", `${base}/${path}`).href;
        expect([status, to]).toEqual([302, `${base}/#/${name}`]);
        expect(headers.get("vary")).toContain("Accept");
      }
    }
  }
});

test("a browser gets a small page where nothing is; other clients and the API's paths get a problem", async ({
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

test("if the pages are not built, a browser learns how to build them; other clients get a problem", async ({
  onTestFinished,
}) => {
  const app = fastify();
  onTestFinished(() => app.close());
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, () => request.log));
  addPageRoutes(app, { basePath: "/fw", corsOrigins: "*" }, new Map());
  const page = await app.inject({ url: "/", headers: BROWSER });
  expect([page.statusCode, page.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
  expect(page.body).toContain("Run <code>npm run pages</code>");
  expect(page.body).toContain('<a href="/fw/docs">documents</a>');
  for (const [url, headers] of [
    ["/", { accept: "*/*" }],
    ["/assets/a.js", BROWSER],
  ] as const) {
    const { statusCode, headers: fields, json } = await app.inject({ url, headers });
    expect([statusCode, fields["content-type"]]).toEqual([404, "application/problem+json"]);
    expect(json().detail).toMatch(/^(the dashboard is not built: npm run pages|there is no such file)/);
  }
});
