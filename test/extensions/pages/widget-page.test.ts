import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createConfig, startGateway } from "../../../src/index.ts";
import { LedMarket } from "../../examples/led-gateway.ts";
import type { Finish } from "../../support/servers/edges.ts";

const MAX_BYTES = 10_000;

async function serve(finish: Finish, settings: object = {}) {
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent", ...settings });
  const gateway = await startGateway(config, { source: new LedMarket() });
  finish(() => gateway.stop());
  return gateway.url;
}

test("the widget's script, which contains the SDK, is at most 10 kB compressed, needs no other file, and is for pages of any origin", async ({
  onTestFinished,
}) => {
  const url = await serve(onTestFinished);
  const asked = { headers: { "accept-encoding": "gzip", origin: "https://site.example" } };
  const { status, headers } = await fetch(`${url}/widget.js`, asked);
  expect(status).toBe(200);
  expect(Number(headers.get("content-length"))).toBeGreaterThan(6_000);
  expect(Number(headers.get("content-length"))).toBeLessThanOrEqual(MAX_BYTES);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "content-encoding": "gzip",
    "cache-control": "public, max-age=300",
    "cross-origin-resource-policy": "cross-origin",
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
  });
  const script = await (await fetch(`${url}/widget.js`)).text();
  expect(script).not.toMatch(/\b(?:import|export)\b|innerHTML|\beval\b|new Function/);
  const again = await fetch(`${url}/widget.js`, {
    headers: { "accept-encoding": "gzip", "if-none-match": headers.get("etag") ?? "" },
  });
  expect(again.status).toBe(304);
});

test("the strip's script is at most 2 kB compressed, without the SDK, and for pages of any origin", async ({
  onTestFinished,
}) => {
  const url = await serve(onTestFinished);
  const asked = { headers: { "accept-encoding": "gzip", origin: "https://site.example" } };
  const { status, headers } = await fetch(`${url}/flare-strip.js`, asked);
  expect(status).toBe(200);
  expect(Number(headers.get("content-length"))).toBeLessThanOrEqual(2_000);
  expect(headers.get("cross-origin-resource-policy")).toBe("cross-origin");
  const script = await (await fetch(`${url}/flare-strip.js`)).text();
  expect(script).not.toMatch(/\b(?:import|export|WebSocket)\b|innerHTML|\beval\b|new Function/);
});

test("the page of the widgets has the dashboard's policy, also below a base path", async ({
  onTestFinished,
}) => {
  const url = await serve(onTestFinished, { basePath: "/flarewire" });
  const page = await fetch(`${url}/flarewire/widgets`);
  const dashboard = await fetch(`${url}/flarewire/`);
  expect(page.status).toBe(200);
  for (const field of ["content-security-policy", "cache-control", "referrer-policy"]) {
    expect(page.headers.get(field), field).toBe(dashboard.headers.get(field));
  }
  const names = [...(await page.text()).matchAll(/(?:src|href)="\.\/([^"]*)"/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThanOrEqual(4);
  // The dashboard and the documents.
  expect(names).toEqual(expect.arrayContaining(["", "docs"]));
  for (const name of names) expect((await fetch(`${url}/flarewire/${name}`)).status, name).toBe(200);
});

test("the document names exactly the custom properties and parts of the elements", async ({
  onTestFinished,
}) => {
  const url = await serve(onTestFinished);
  const scripts = ["widget.js", "flare-strip.js"].map(async (name) => (await fetch(`${url}/${name}`)).text());
  const script = (await Promise.all(scripts)).join("\n");
  const document = readFileSync(new URL("../../../src/clients/widget/README.md", import.meta.url), "utf8");
  const names = (text: string, pattern: RegExp) =>
    [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ""))].sort();
  expect(names(document, /`(--flare-[a-z]+)`/g)).toEqual(names(script, /var\((--flare-[a-z]+)/g));
  const styled = names(script, /\[part~?=([a-z]+)\]/g);
  expect(styled.length).toBeGreaterThan(5);
  expect(names(document, /`([a-z]+)`/g)).toEqual(expect.arrayContaining(styled));
});
