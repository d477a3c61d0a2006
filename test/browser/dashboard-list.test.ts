import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import type { Finish } from "../support/servers/edges.ts";
import { COLOR_RULES, findViolations } from "./axe.ts";
import { findChromium } from "./chromium.ts";
import { at, FlaresMarket, MARKET, marketOf, pro, RUNNING, showCandles, symbols } from "./flares-market.ts";
import { openDashboard, storeMinutes, TWO_FRAMES } from "./open-dashboard.ts";
import { type Look, lendPage } from "./shared-page.ts";

/** A row that is far below the first screen. */
const DEEP = RUNNING - 8;

describe.skipIf(findChromium() === undefined)("the flares of the dashboard in Chromium", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway(createConfig({ port: 0, drain: "0", logLevel: "silent" }), {
      source: new FlaresMarket(MARKET),
    });
  });
  afterAll(() => gateway?.stop());

  async function open(finish: Finish, hash = "", look: Look = {}): Promise<Page> {
    const page = await lendPage(finish, look);
    await showCandles(page);
    await page.goto(`${gateway.url}/${hash}`);
    await page.locator(".bar").first().waitFor();
    return page;
  }

  test("the list shows a past minute, chosen on the timeline or by the address, and returns to now", async ({
    onTestFinished: finish,
  }) => {
    const asked: string[] = [];
    const then = at(-90).slice(0, 16);
    const page = await lendPage(finish);
    await page.route("**/api/v1/snapshot?*", (route) => {
      asked.push(decodeURIComponent(new URL(route.request().url()).search));
      const flares = { ...MARKET.flares, pro: pro.slice(0, 2) };
      if (asked.length === 1)
        return route.fulfill({ json: { ...MARKET, flares, observed_at: `${then}:00.000Z` } });
      return route.fulfill({ status: 410, json: {} });
    });
    // This server has stored the last hour.
    const oldest = at(-60).slice(0, 16);
    const wasSeen = Promise.withResolvers<void>();
    await storeMinutes(page, oldest, wasSeen.promise);
    const said: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") said.push(`${message.text()} ${message.location().url}`);
    });
    await page.goto(`${gateway.url}/#/now?at=${then}Z&order=change`);
    await page
      .locator("h2", { hasText: `2 tokens were flaring on BSC at ${then.replace("T", " ")} UTC` })
      .waitFor();
    await expect.poll(() => page.locator(".flares tbody tr").count()).toBe(2);
    wasSeen.resolve();
    const slider = page.getByRole("slider", { name: "Time of the list" });
    expect(await slider.getAttribute("min")).toBe("0");
    // The slider has the strip's scale, and starts at the first stored minute.
    await expect.poll(() => decodeURIComponent(page.url())).toContain(`at=${oldest}Z`);
    const widths = '[".scrubber input", ".lanes"].map((one) => document.querySelector(one).clientWidth)';
    const [ofSlider = 0, ofTimeline = 0] = (await page.evaluate(widths)) as number[];
    expect(Math.abs(ofSlider - ofTimeline)).toBeLessThanOrEqual(2);
    await page.getByText("The server stores nothing for this minute").waitFor();
    expect(asked).toEqual([then, oldest].map((minute) => `?group=bsc&at=${minute}Z`));
    // Only requests for the chosen minutes failed.
    expect(said.filter((text) => !/\/(snapshot|candles)\?/.test(text))).toEqual([]);
    await page.getByRole("button", { name: "Back to now" }).click();
    await page.locator("h2", { hasText: `${RUNNING} tokens are flaring on BSC` }).waitFor();
    expect(await page.locator(".flares tbody tr").count()).toBe(RUNNING);
    expect(page.url()).not.toContain("at=");
    await slider.press("ArrowLeft");
    await expect.poll(() => page.url()).toContain("at=");
  });

  test("tokens watched in two tabs are watched in both, survive a reload, and can be used as a filter", async ({
    onTestFinished: finish,
  }) => {
    const page = await open(finish);
    const tab = await page.context().newPage();
    finish(() => tab.close());
    await tab.goto(page.url());
    await page.getByRole("button", { name: "Watch T3", exact: true }).click();
    await tab.getByRole("button", { name: "★ Watched 1" }).waitFor();
    await tab.getByRole("button", { name: "Watch T5", exact: true }).click();
    await page.getByRole("button", { name: "★ Watched 2" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: /Watched/ }).click();
    await expect.poll(() => symbols(page)).toEqual(["T3", "T5"]);
    expect(page.url()).toContain("tokens=0x");
    await page.getByRole("button", { name: /chosen/ }).click();
    await expect.poll(async () => (await symbols(page)).length).toBe(RUNNING);
  });

  test("finished flares are filtered by their end, which is in the address and changes with Back and forward", async ({
    onTestFinished: finish,
  }) => {
    const page = await open(finish);
    const rugs = ["T100", "T102", "T104", "T106", "T108"];
    await page.goto(`${gateway.url}/#/finished?cause=canary`);
    await expect.poll(() => symbols(page)).toEqual(rugs);
    expect(await page.getByRole("radio", { name: "possible rug 5" }).isChecked()).toBe(true);
    await page.getByRole("radio", { name: "activity faded 5" }).check();
    expect(new URL(page.url()).hash).toBe("#/finished?cause=faded");
    await expect.poll(() => symbols(page)).toEqual(["T101", "T103", "T105", "T107", "T109"]);
    await page.goBack();
    await expect.poll(() => symbols(page)).toEqual(rugs);
    await page.goForward();
    await expect.poll(async () => (await symbols(page))[0]).toBe("T101");
    await page.getByRole("radio", { name: "Any end 10" }).check();
    await expect.poll(async () => (await symbols(page)).length).toBe(10);
    // Running flares have no end, so the filter is ignored.
    await page.goto(`${gateway.url}/#/now?cause=canary`);
    await expect.poll(async () => (await symbols(page)).length).toBe(RUNNING);
  });

  test("each end has the count of what it would show, and hidden flares are counted", async ({
    onTestFinished: finish,
  }) => {
    const page = await open(finish);
    await page.goto(`${gateway.url}/#/finished`);
    const choice = (name: string) => page.getByRole("radio", { name, exact: true });
    await choice("Any end 10").waitFor();
    const note = page.getByText("Your filters hide");
    expect(await note.count()).toBe(0);
    await page.getByRole("button", { name: "+ Filter" }).click();
    const search = page.getByRole("searchbox", { name: "Symbol, name or address" });
    await search.fill("T10");
    await page.getByRole("button", { name: "Safer" }).click();
    for (const name of ["Any end 5", "possible rug 0", "activity faded 5"]) await choice(name).waitFor();
    expect(await note.innerText()).toMatch(/^Your filters hide 5 flares\./);
    await choice("activity faded 5").check();
    await search.fill("T103");
    await choice("activity faded 1").waitFor();
    expect(await note.innerText()).toMatch(/^Your filters hide 4 flares\./);
    await choice("possible rug 0").check();
    await page.getByText("None of the 5 flares match your filters.").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(async () => (await symbols(page)).length).toBe(10);
    expect(new URL(page.url()).hash).toBe("#/finished");
  });

  test("a click on a head sorts by its column, with the greatest first, and the strip has only what the filters leave", async ({
    onTestFinished: finish,
  }) => {
    const page = await open(finish, "#/now", { viewport: { width: 1_440, height: 900 } });
    await page.getByRole("button", { name: "Liquidity", exact: true }).click();
    await expect.poll(async () => (await symbols(page))[0]).toBe(`T${RUNNING}`);
    expect(new URL(page.url()).hash).toBe("#/now?order=liquidity");
    expect(await page.locator("th[aria-sort=descending]").innerText()).toMatch(/^Liquidity/);
    await page.getByRole("button", { name: "≥ $50K" }).click();
    const rich = Math.max(0, RUNNING - 49);
    await expect.poll(() => page.locator(".bar.flaring").count()).toBe(rich);
    // A filter by liquidity leaves the finished ones, which have at least $100K.
    expect(await page.locator(".bar").count()).toBe(rich + 10);
    await page.getByRole("button", { name: "All", exact: true }).click();
    await expect.poll(() => page.locator(".bar.flaring").count()).toBe(RUNNING);
  });

  test("axe finds no problem with the lists, the filters, the card and the dialog", async ({
    onTestFinished: finish,
  }) => {
    const { page, goto } = await openDashboard(finish, new FlaresMarket(marketOf(2, 2)));
    await goto("finished");
    const light = { colorScheme: "light", forcedColors: "none" } as const;
    const dark = { ...light, colorScheme: "dark" } as const;
    const forced = { ...light, forcedColors: "active" } as const;
    // `npm test` checks each part in one theme, with all rules.
    const finds = async (within: string, first: typeof light | typeof dark) => {
      for (const look of IS_SOAK ? [light, dark, forced] : [first]) {
        await page.emulateMedia(look);
        const rules = IS_SOAK && look !== light ? COLOR_RULES : undefined;
        const found = await findViolations(page, rules, within);
        expect(found, `${within} ${JSON.stringify(look)}`).toEqual([]);
      }
    };
    await finds("main", light);
    await goto("now");
    await page.getByRole("button", { name: "+ Filter" }).click();
    await finds("main", dark);
    await page.locator(".bar.canary").first().hover();
    await page.locator(".bar-card").waitFor();
    await finds(".bar-card", light);
    await page.getByRole("button", { name: "Use in a bot" }).click();
    await page.locator("dialog pre").waitFor();
    await finds("dialog", dark);
  });

  test("[W44] one click selects another group, with its pairs, its address and its code for a bot", async ({
    onTestFinished: finish,
  }) => {
    const page = await open(finish);
    await storeMinutes(page, at(-300).slice(0, 16));
    await page.getByRole("radio", { name: "Exchanges" }).check();
    const pair = page.locator(".flares tbody th", { hasText: "BTC/USDT" });
    await pair.getByText("binance").waitFor();
    expect(await pair.getByRole("link").getAttribute("href")).toBe("#/token/exchange/BTC");
    expect(page.url()).toContain("#/now?group=exchange");
    const asked = page.waitForRequest(/snapshot\?group=exchange&at=/);
    await page.getByRole("slider").fill("250");
    await asked;
    await page.getByRole("button", { name: "Back to now" }).click();
    await pair.waitFor();
    await page.getByRole("button", { name: "Watch BTC" }).click();
    await page.getByRole("button", { name: "★ Watched 1" }).click();
    await pair.waitFor();
    expect(page.url()).toContain("tokens=btc");
    await page.getByRole("button", { name: "1 chosen" }).click();
    // There is no column that only flares of BSC have.
    expect(await page.getByRole("columnheader").allTextContents()).not.toContain("Since start");
    await page.getByRole("button", { name: "Use in a bot" }).click();
    await page.locator("dialog pre", { hasText: "channels=flares.exchange.pro" }).waitFor();
    await page.keyboard.press("Escape");
    await pair.getByRole("link").click();
    await page.locator(".token-page code", { hasText: "BTC/USDT" }).waitFor();
    await page.locator(".episodes b", { hasText: "running" }).waitFor();
    await page.goBack();
    await pair.waitFor();
    // Each choice was a step: all tokens, the watched one, now and the past minute.
    for (let step = 0; step < 5; step++) await page.goBack();
    await expect.poll(async () => (await symbols(page)).length).toBe(RUNNING);
  });

  test("another group keeps the chosen list and past minute, and says if that minute is not stored", async ({
    onTestFinished: finish,
  }) => {
    const then = at(-30).slice(0, 16);
    const page = await lendPage(finish);
    await storeMinutes(page, at(-300).slice(0, 16));
    const past = { ...MARKET, flares: MARKET["flares.exchange"], observed_at: `${then}:00.000Z` };
    await page.route("**/api/v1/snapshot?*", (route) =>
      route.request().url().includes("group=exchange")
        ? route.fulfill({ json: past })
        : route.fulfill({ status: 410, json: {} }),
    );
    await page.goto(`${gateway.url}/#/now?channels=flares.free&at=${then}Z&search=T1`);
    const shown = [
      ["Exchanges", "exchange", "BTC/USDT"],
      ["Polygon", "matic", "The server stores nothing for this minute"],
    ] as const;
    for (const [label, group, text] of shown) {
      await page.getByRole("radio", { name: label }).check();
      await page.locator("main").getByText(text).first().waitFor();
      const query = new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
      expect(Object.fromEntries(query)).toEqual({
        group,
        channels: `flares.${group}.free`,
        at: `${then}Z`,
      });
    }
  });

  test("Back and forward restore list, search, order and scroll, and the address opens the same view", async ({
    onTestFinished: finish,
  }) => {
    const page = await open(finish, "", { viewport: { width: 1_000, height: 600 } });
    await page.getByRole("button", { name: "+ Filter" }).click();
    const search = page.getByRole("searchbox", { name: "Symbol, name or address" });
    await search.fill("T");
    await page.getByLabel("Order").selectOption("liquidity");
    await expect.poll(async () => (await symbols(page))[0]).toBe(`T${RUNNING}`);
    await page.locator(".flares tbody tr").nth(DEEP).locator("th a").scrollIntoViewIfNeeded();
    expect(await page.evaluate("scrollY")).toBeGreaterThan(500);
    const row = page.locator(".flares tbody tr").nth(DEEP);
    const topOf = () => row.evaluate((element) => Math.round(element.getBoundingClientRect().top));
    const [before, address] = [await symbols(page), page.url()];
    // Rows that come into view get their real heights, which moves the others.
    let top = Number.NaN;
    const isStill = async () => {
      const before = top;
      await page.evaluate(TWO_FRAMES);
      top = await topOf();
      return top === before;
    };
    await expect.poll(isStill).toBe(true);
    // A click with the mouse could scroll first.
    await row.locator("th a").dispatchEvent("click");
    await page.locator(".token-page").waitFor();
    expect(await page.evaluate("scrollY")).toBe(0);
    await page.goBack();
    await page.locator(".flares tbody tr").nth(DEEP).waitFor();
    await expect.poll(async () => Math.abs((await topOf()) - top)).toBeLessThanOrEqual(2);
    expect([await symbols(page), page.url()]).toEqual([before, address]);
    await page.getByRole("button", { name: "+ Filter" }).click();
    expect(await search.inputValue()).toBe("T");
    await page.goForward();
    await page.locator(".token-page").waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "Finished" }).click();
    await expect.poll(() => symbols(page)).toContain("T109");
    await page.goBack();
    await expect.poll(() => symbols(page)).toEqual(before);
    if (IS_SOAK) {
      await page.reload();
      await expect.poll(() => symbols(page)).toEqual(before);
    }
    const other = await open(finish, new URL(address).hash);
    await expect.poll(() => symbols(other)).toEqual(before);
  });

  test("Back and a reload restore the scroll position of the finished flares, whose list loads late", async ({
    onTestFinished: finish,
  }) => {
    const page = await lendPage(finish, { viewport: { width: 1_000, height: 200 } });
    await page.goto(`${gateway.url}/#/finished`);
    await page.locator(".finished tbody tr").nth(3).waitFor();
    const scrolled = () => page.evaluate("Math.round(scrollY)");
    await page.evaluate("scrollTo(0, 240)");
    expect(await scrolled()).toBe(240);
    await page.reload();
    await page.locator(".finished tbody tr").first().waitFor();
    await expect.poll(scrolled).toBe(240);
    await page.evaluate(`location.hash = "#/record"`);
    await page.locator(".record").waitFor();
    await expect.poll(scrolled).toBe(0);
    await page.goBack();
    await expect.poll(scrolled).toBe(240);
  });

  test("a view is saved under a name, opens again after a reload, and is removed", async ({
    onTestFinished: finish,
  }) => {
    const page = await open(finish, "#/now?min_liquidity=50000&order=change");
    const openFilters = () => page.getByRole("button", { name: "+ Filter" }).click();
    await openFilters();
    await page.getByRole("textbox", { name: "Name of this view" }).fill("<b>big</b>");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const view = page.getByRole("link", { name: "<b>big</b>" });
    await view.waitFor();
    await page.goto(`${gateway.url}/#/now`);
    await page.reload();
    await openFilters();
    await view.click();
    await expect.poll(() => new URL(page.url()).hash).toBe("#/now?min_liquidity=50000&order=change");
    await page.getByRole("button", { name: "Remove" }).click();
    await view.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Possible rugs" }).click();
    await page.locator(".finished").first().waitFor();
  });
});
