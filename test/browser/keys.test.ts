import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { formatKeys, mintSecret } from "../../src/gateway/keys/index.ts";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { HeldProxy } from "../clients/sdk/held-proxy.ts";
import { range } from "../clients/sdk/stream-kit.ts";
import { shareOf } from "../support/law-runs.ts";
import { findChromium } from "./chromium.ts";
import { followIn, moreEvents, servePage, viewAt } from "./sdk-page.ts";
import { lendPage } from "./shared-page.ts";

describe.skipIf(findChromium() === undefined)("the SDK with a key in Chromium", () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-browser-keys-"));
  const keys = join(directory, "keys.json");
  const { id, digest, text: key } = mintSecret("fw");
  const bearer = { authorization: `Bearer ${key}` };
  let gateway: Gateway;
  let site: Awaited<ReturnType<typeof servePage>>;
  let proxy: HeldProxy;
  let page: Page;
  /** All addresses that the page requested, including WebSockets. */
  let asked: URL[];

  beforeAll(async () => {
    const replay = { feed: "replay", warmup: "0s", speed: 200 } as const;
    const quiet = { port: 0, logLevel: "silent", drain: "0", keys, anonymous: "off" } as const;
    writeFileSync(keys, formatKeys([{ id, sha256: digest.toString("hex"), plan: "pro" }]));
    gateway = await startGateway(createConfig({ ...quiet, ...replay }));
    proxy = await HeldProxy.open(Number(new URL(gateway.url).port));
    site = await servePage();
  });

  beforeEach(async ({ onTestFinished }) => {
    asked = [];
    page = await lendPage(onTestFinished);
    page.on("request", (request) => asked.push(new URL(request.url())));
    page.on("websocket", (socket) => asked.push(new URL(socket.url())));
    await page.goto(site.url);
  });

  afterAll(async () => {
    await site?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
    await gateway?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const tickets = () => asked.flatMap(({ searchParams }) => searchParams.get("ticket") ?? []);

  // Only a WebSocket needs tickets. Tests in Node use keys over the other two.
  for (const transport of shareOf(["websocket", "sse", "poll"] as const)) {
    test(`[K1] [K4] [L2] [L3] over ${transport}, also after a cut, the view is what REST serves with the key, which appears in no URL`, async () => {
      await followIn(page, proxy.url, { transport, key });
      await moreEvents(page, 10);
      proxy.cut();
      await moreEvents(page, 10);
      const response = await fetch(`${gateway.url}/api/v1/snapshot`, { headers: bearer });
      const { cursor, observed_at: _at, ...lists } = (await response.json()) as Record<string, unknown>;
      expect(await viewAt(page, String(cursor))).toEqual(lists);
      const { seqs, resets } = await page.evaluate(() => ({ seqs: kept.seqs, resets: kept.resets }));
      expect(seqs).toEqual(range(seqs[0] ?? 0, seqs.at(-1) ?? 0));
      expect(resets).toEqual(["started"]);
      expect(asked.filter(({ href }) => href.includes(key.slice(12)))).toEqual([]);
      if (transport === "websocket") expect(new Set(tickets()).size).toBeGreaterThanOrEqual(2);
      else expect(tickets()).toEqual([]);
      expect(new Set(tickets()).size).toBe(tickets().length);
    });
  }

  test("[K1] an unknown key ends the stream with the server's reason", async () => {
    await followIn(page, proxy.url, { key: mintSecret("fw").text });
    await page.waitForFunction(() => kept.stream.connection.state === "closed", undefined, { polling: 20 });
    expect(await page.evaluate(() => kept.stream.connection.reason)).toMatch(/^HTTP 401 .*key/);
  });

  // This test is the last one, because it invalidates the key.
  test("[K7] a revoked key ends the stream with the server's reason", async () => {
    await followIn(page, proxy.url, { key });
    await moreEvents(page, 3);
    writeFileSync(keys, formatKeys([]));
    await page.waitForFunction(() => kept.stream.connection.state === "closed", undefined, { polling: 20 });
    expect(await page.evaluate(() => kept.stream.connection.reason)).toBe(
      "close code 4003 unauthorized: the key was revoked or has expired",
    );
  });
});
