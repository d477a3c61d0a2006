import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatKeys } from "../../../src/gateway/keys/index.ts";
import type { SnapshotSource } from "../../../src/gateway/source/index.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { ToldMarket } from "../../browser/told-market.ts";
import { LedMarket } from "../../examples/led-gateway.ts";
import { type Finish, newDirectory } from "../../support/servers/edges.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";

async function serve(finish: Finish, settings: object = {}, source: SnapshotSource = new LedMarket()) {
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent", ...settings });
  const gateway = await startGateway(config, { source });
  finish(() => gateway.stop());
  return gateway.url;
}

test("the dashboard is at / with a policy that allows only this server; its files are immutable, and it is at most 56 kB", async ({
  onTestFinished,
}) => {
  const url = await serve(onTestFinished);
  const page = await fetch(`${url}/`, { headers: { "accept-encoding": "gzip" } });
  const html = await page.text();
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'/,
  );
  expect(page.headers.get("content-security-policy")).not.toMatch(/unsafe|\*|https?:/);
  const names = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThanOrEqual(2);
  let bytes = Number(page.headers.get("content-length"));
  for (const name of names) {
    const asset = await fetch(`${url}/${name}`, { headers: { "accept-encoding": "gzip" } });
    expect([asset.status, asset.headers.get("cache-control")]).toEqual([
      200,
      "public, max-age=31536000, immutable",
    ]);
    expect(asset.headers.get("x-content-type-options")).toBe("nosniff");
    bytes += Number(asset.headers.get("content-length"));
  }
  expect(bytes).toBeGreaterThan(5_000);
  expect(bytes).toBeLessThanOrEqual(56_000);
});

test("a browser with the current page gets 304, and HEAD gets the headers", async ({ onTestFinished }) => {
  const url = await serve(onTestFinished);
  const { headers } = await fetch(`${url}/`);
  const again = await fetch(`${url}/`, { headers: { "if-none-match": headers.get("etag") ?? "" } });
  expect([again.status, again.headers.get("content-security-policy")]).toEqual([
    304,
    headers.get("content-security-policy"),
  ]);
  const head = await fetch(`${url}/`, { method: "HEAD" });
  expect([head.status, head.headers.get("etag")]).toEqual([200, headers.get("etag")]);
});

test("below a base path, the URL without the final slash redirects to the one with it", async ({
  onTestFinished,
}) => {
  const url = await serve(onTestFinished, { basePath: "/flarewire" });
  const answer = await fetch(`${url}/flarewire?a=b`, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([308, "./flarewire/?a=b"]);
  expect((await fetch(`${url}/flarewire`)).url).toBe(`${url}/flarewire/`);
});

test("files outside the dashboard are not served, regardless of the path in their name", async ({
  onTestFinished,
}) => {
  const url = await serve(onTestFinished);
  for (const name of ["nothing.js", "..%2findex.html", "%2e%2e%2f%2e%2e%2fpackage.json", "__proto__"]) {
    const answer = await fetch(`${url}/assets/${name}`);
    expect([answer.status, answer.headers.get("content-type")], name).toEqual([
      404,
      "application/problem+json",
    ]);
  }
});

test("the page has what flares now before any script, with hostile names as text, for those who may see it", async ({
  onTestFinished,
}) => {
  const token = { ...SAMPLE_FLARE.token, symbol: "</main><script>alert(1)</script>" };
  const names = Array.from({ length: 40 }, (_, at) => ({ ...SAMPLE_FLARE, id: `${at}`, token }));
  const flares = { ...SAMPLE_SNAPSHOT.flares, pro: names, free: [] };
  const source = () => new ToldMarket({ ...SAMPLE_SNAPSHOT, flares });
  const open = await (await fetch(`${await serve(onTestFinished, {}, source())}/`)).text();
  expect(open).toContain('<b class="live">40 tokens</b> are flaring on BSC');
  expect(open.match(/<tr>/g)).toHaveLength(16);
  expect(open).not.toContain("<script>");
  expect(open).not.toMatch(/ style=| on\w+=/);
  const keys = join(newDirectory(onTestFinished), "keys.json");
  writeFileSync(keys, formatKeys([]));
  const free = await (await fetch(`${await serve(onTestFinished, { keys }, source())}/`)).text();
  expect(free).toContain("Nothing</b> is flaring on BSC");
  const closed = { keys, anonymous: "off" };
  const refused = await (await fetch(`${await serve(onTestFinished, closed, source())}/`)).text();
  expect(refused).toContain('class="rendered"></main>');
});
