import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { HeldProxy } from "../clients/sdk/held-proxy.ts";
import { range } from "../clients/sdk/stream-kit.ts";
import { findChromium, shareBrowser } from "./chromium.ts";
import { followIn, moreEvents, servePage, viewAt } from "./sdk-page.ts";

describe.skipIf(findChromium() === undefined)("the SDK in Chromium", () => {
  let gateway: Gateway;
  let site: Awaited<ReturnType<typeof servePage>>;
  let proxy: HeldProxy;
  let page: Page;
  /** The browser's console, without network errors, which it always prints. */
  const pageErrors: string[] = [];

  beforeAll(async () => {
    const replay = { feed: "replay", warmup: "0s", speed: 200 } as const;
    gateway = await startGateway(createConfig({ port: 0, logLevel: "silent", drain: "0", ...replay }));
    proxy = await HeldProxy.open(Number(new URL(gateway.url).port));
    site = await servePage();
    page = await (await shareBrowser()).newPage();
    page.on("pageerror", (error) => pageErrors.push(error.message));
    await page.goto(site.url);
  });

  afterAll(async () => {
    await page?.close();
    await site?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
    await gateway?.stop();
  });

  /** Checks laws L2 and L3 for the page's record, and ends the stream. */
  async function expectNoLoss(): Promise<void> {
    const response = await fetch(`${gateway.url}/api/v1/snapshot`);
    const { cursor, observed_at: _observed, ...lists } = (await response.json()) as Record<string, unknown>;
    expect(await viewAt(page, String(cursor))).toEqual(lists);
    const { seqs, resets } = await page.evaluate(() => {
      kept.stream.close();
      return { seqs: kept.seqs, resets: kept.resets };
    });
    expect(seqs).toEqual(range(seqs[0] ?? 0, seqs.at(-1) ?? 0));
    expect(resets).toEqual(["started"]);
    expect(pageErrors).toEqual([]);
  }

  const state = () =>
    page.evaluate(() => `${kept.stream.connection.state} ${kept.stream.connection.transport}`);
  const becomes = (wanted: string) =>
    page.waitForFunction(
      (text) => `${kept.stream.connection.state} ${kept.stream.connection.transport}` === text,
      wanted,
      { polling: 20 },
    );

  /** Number of compressed connections, as counted by the gateway. */
  const compressed = async () => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    return /^flarewire_connections_compressed (\d+)$/m.exec(metrics)?.[1];
  };

  for (const transport of ["websocket", "sse", "poll"] as const) {
    test(`[L2] [L3] [W37] over ${transport}, also after a cut, the view is what REST serves, without gaps or repeats`, async () => {
      await followIn(page, proxy.url, { transport });
      await moreEvents(page, 10);
      // The previous test's connection may still be closing.
      await expect.poll(compressed).toBe(transport === "websocket" ? "1" : "0");
      proxy.cut();
      await moreEvents(page, 10);
      await expectNoLoss();
    });
  }

  test("behind a proxy that forwards no WebSocket message, the stream uses SSE until messages pass", async () => {
    proxy.passing = "no-websocket-messages";
    await followIn(page, proxy.url, { firstMessageMs: 2_000, upgradeAfterMs: 400 });
    await becomes("live sse");
    await moreEvents(page, 5);
    proxy.passing = "all";
    await becomes("live websocket");
    await moreEvents(page, 5);
    await expectNoLoss();
  });

  test("[L2] [L3] a page that was offline misses no event", async () => {
    await followIn(page, proxy.url);
    await moreEvents(page, 5);
    await page.context().setOffline(true);
    proxy.cut();
    await becomes("waiting websocket");
    await page.context().setOffline(false);
    await moreEvents(page, 5);
    await expectNoLoss();
  });

  test("[L2] [L3] a hidden page pauses, and misses no event once it is visible again", async () => {
    await followIn(page, proxy.url, { pauseHiddenAfterMs: 50 });
    await moreEvents(page, 5);
    // A headless browser considers every page visible.
    const show = (hidden: boolean) =>
      page.evaluate((now) => {
        const document: EventTarget = Reflect.get(globalThis, "document");
        Object.defineProperty(document, "hidden", { value: now, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await show(true);
    await becomes("paused websocket");
    const asked = proxy.asked.websocket;
    await show(false);
    await moreEvents(page, 5);
    expect(proxy.asked.websocket).toBe(asked + 1);
    expect(await state()).toBe("live websocket");
    await expectNoLoss();
  });

  test("an exception in a listener is reported as a page error, and the stream continues", async () => {
    await followIn(page, proxy.url);
    const reported = page.waitForEvent("pageerror");
    await page.evaluate(() => {
      const off = kept.stream.on("event", () => {
        off();
        throw new Error("mine");
      });
    });
    expect((await reported).message).toContain('the listener of "event" threw Error: mine: catch it there');
    pageErrors.length = 0;
    await moreEvents(page, 3);
    await expectNoLoss();
  });
});
