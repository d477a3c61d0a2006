import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { LedMarket } from "../examples/led-gateway.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../support/world/samples.ts";
import { findChromium } from "./chromium.ts";
import { enterKey, HOLD_ANNOUNCER, hear, makeKeys, openDashboard, waitForCount } from "./open-dashboard.ts";
import { ToldMarket } from "./told-market.ts";

/* Tests of repeated actions, and of a page that stays open for long. */

const MAX_EVENTS = 200;

const isLive = (page: Page) => page.locator(".status.good #status-word", { hasText: "online" }).waitFor();

describe.skipIf(findChromium() === undefined)("the dashboard that stays open, in Chromium", () => {
  test.runIf(IS_SOAK)(
    "a connected page reports no outage, and a second outage is timed from its own start",
    async ({ onTestFinished }) => {
      const market = new ToldMarket(SAMPLE_SNAPSHOT);
      const { gateway, page, goto } = await openDashboard(onTestFinished, market, { own: {} });
      await page.clock.install();
      await goto("flares");
      await isLive(page);
      await page.clock.runFor(10_000);
      expect([await page.locator(".outage").count(), await page.locator("main.old").count()]).toEqual([0, 0]);
      await gateway.stop();
      await page.locator(".status.wait").waitFor();
      // A restart takes less time, so no outage is shown yet.
      await page.clock.runFor(2_000);
      expect(await page.locator(".outage").count()).toBe(0);
      await page.clock.runFor(60_000);
      await page.locator("main.old").waitFor();
      await page.locator(".outage", { hasText: /^Not connected for 1m \d\ds\./ }).waitFor();
      const again = await startGateway(
        createConfig({ port: Number(new URL(gateway.url).port), drain: "0", logLevel: "silent" }),
        { source: new ToldMarket(SAMPLE_SNAPSHOT) },
      );
      onTestFinished(() => again.stop());
      // The delays between attempts grow.
      await expect
        .poll(async () => {
          await page.clock.runFor(5_000);
          return page.locator(".outage").count();
        })
        .toBe(0);
      await isLive(page);
      expect(await page.locator("main.old").count()).toBe(0);
      await page.clock.runFor(10_000);
      expect(await page.locator(".outage").count()).toBe(0);
      await again.stop();
      await page.locator(".status.wait").waitFor();
      await page.clock.runFor(5_000);
      await page.locator(".outage", { hasText: /^Not connected for [3-9]s\./ }).waitFor();
    },
  );

  test("the newest 200 events are shown, and all are counted", async ({ onTestFinished }) => {
    const market = new LedMarket();
    const { page, goto } = await openDashboard(onTestFinished, market);
    await goto("feed?updates=true");
    await isLive(page);
    for (let at = 1; at <= MAX_EVENTS; at++) market.start(`T${at}`);
    await page.getByText(`${MAX_EVENTS} since this page was opened.`).waitFor();
    const items = page.locator(".events tbody tr");
    expect(await items.count()).toBe(MAX_EVENTS);
    market.start("LAST");
    await page.getByText("201 since this page was opened; the newest 200 are below.").waitFor();
    expect(await items.count()).toBe(MAX_EVENTS);
    expect(await items.first().textContent()).toContain("LAST");
    expect(await items.last().textContent()).toContain("T2");
  });

  test("the feed has the starts, surges and ends from before the page was opened, each once, and links to the token", async ({
    onTestFinished,
  }) => {
    const market = new LedMarket();
    const { page, goto } = await openDashboard(onTestFinished, market);
    await goto("flares");
    await isLive(page);
    market.start("ONE");
    market.surge("ONE");
    market.finish("ONE");
    await waitForCount(page, /^[3-9] since/);
    await page.reload();
    await isLive(page);
    await goto("feed");
    const lines = page.locator(".events tbody tr");
    await expect
      .poll(() => lines.locator(".what").allTextContents())
      .toEqual(["activity faded", "surged", "started"]);
    market.start("TWO");
    await lines.nth(3).waitFor();
    expect(await lines.locator("a").allTextContents()).toEqual(["TWO", "ONE", "ONE", "ONE"]);
    await lines.locator("time").first().click();
    const json = page.getByRole("dialog", { name: "flare-started" });
    await json.getByText('"symbol": "TWO"').waitFor();
    await json.getByRole("button", { name: "Close" }).click();
    await json.waitFor({ state: "detached" });
    await lines.locator("a").first().click();
    await page.locator(".token-page").waitFor();
  });

  test("a flare's entry into the free list is shown as such with the plan free, and as still flaring to others", async ({
    onTestFinished,
  }) => {
    const { keys } = makeKeys(onTestFinished);
    const running = { ...SAMPLE_SNAPSHOT.flares, pro: [SAMPLE_FLARE], free: [], finished_trending: [] };
    for (const settings of [{ keys }, {}]) {
      const market = new ToldMarket({ ...SAMPLE_SNAPSHOT, flares: running });
      const { page, goto } = await openDashboard(onTestFinished, market, { settings });
      await goto("feed");
      await isLive(page);
      market.show({ ...SAMPLE_SNAPSHOT, flares: { ...running, free: [SAMPLE_FLARE] } });
      await waitForCount(page, "1 since");
      const said = "keys" in settings ? /^\d\d:\d\d\S*lasted 5 min/ : /^08:21.*still flaring, now:/;
      await expect
        .poll(() => page.locator(".events tbody tr").allTextContents())
        .toEqual([expect.stringMatching(said)]);
    }
  });

  test("a token's flares that did not load are requested again at its next flare", async ({
    onTestFinished,
  }) => {
    const market = new LedMarket();
    const { page, goto } = await openDashboard(onTestFinished, market);
    market.start("ONE");
    await page.route("**/api/v1/tokens/**", (route) => route.fulfill({ status: 503 }));
    await goto(`token/${SAMPLE_FLARE.token.address}`);
    const problem = page.getByText("the server returned 503");
    await problem.waitFor();
    await page.unroute("**/api/v1/tokens/**");
    market.finish("ONE");
    market.start("TWO");
    await problem.waitFor({ state: "detached" });
    // Newest first: the running flare, then the finished one with the score of its start.
    await expect
      .poll(() => page.locator(".episodes tbody tr").allTextContents())
      .toEqual([expect.stringMatching(/running$/), expect.stringMatching(/< 1 min.*3\.4activity faded$/)]);
  });

  test("each flare is announced once, also after the key is entered again", async ({ onTestFinished }) => {
    const { keys, key } = makeKeys(onTestFinished);
    const market = new LedMarket();
    const { page, goto } = await openDashboard(onTestFinished, market, {
      settings: { keys },
      look: { scripts: [HOLD_ANNOUNCER] },
    });
    await goto("flares");
    await page.getByRole("button", { name: "Enter a key" }).click();
    await enterKey(page, key);
    await page.getByText("Your key gives you the pro plan").waitFor();
    const hears = async (sentence: string, count: number) => {
      await waitForCount(page, `${count} since`);
      await expect.poll(() => hear(page, ".unseen [aria-live]")).toBe(sentence);
    };
    market.start("ONE");
    market.start("TWO");
    await hears("2 flares started: TWO, ONE", 2);
    market.start("THREE");
    await hears("A flare started: THREE", 3);
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByRole("button", { name: "Enter a key" }).click();
    await enterKey(page, key);
    await page.getByText("Your key gives you the pro plan").waitFor();
    market.start("FOUR");
    await hears("A flare started: FOUR", 1);
  });
});
