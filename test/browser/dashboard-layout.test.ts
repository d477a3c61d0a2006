import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Snapshot } from "../../src/model/index.ts";
import type { Finish } from "../support/edges.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../support/samples.ts";
import { findChromium, launch } from "./chromium.ts";
import { openDashboard } from "./open-dashboard.ts";
import { ToldMarket } from "./told-market.ts";
import { WIDE } from "./wide-market.ts";

const executable = findChromium();
const PAGES = [
  "flares",
  "newest",
  "charts",
  "leaderboards",
  "events",
  `token/${SAMPLE_FLARE.token.address}`,
] as const;

/**
 * Every number that cannot be read as a whole: broken over two lines, outside its own cell, outside the window, or cut off by an
 * element around it. Names and warnings are no numbers.
 */
const CUT_NUMBERS = `(() => {
  const cut = [];
  const texts = document.createTreeWalker(document.querySelector("#app"), NodeFilter.SHOW_TEXT);
  let numbers = 0;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const around = text.parentElement;
    if (!around.checkVisibility() || around.closest(".stranger, .warned, .unseen, option")) continue;
    for (const { index, 0: number } of text.data.matchAll(/[$+−±]?\\d[\\d.,₀-₉]*[A-Za-z]?/g)) {
      numbers += 1;
      const range = new Range();
      range.setStart(text, index);
      range.setEnd(text, index + number.length);
      const rects = range.getClientRects();
      const { left, right, top, bottom } = range.getBoundingClientRect();
      const fits = (box) => left >= box.left - 0.5 && right <= box.right + 0.5;
      if (rects.length !== 1) cut.push(number + " is on " + rects.length + " lines");
      if (left < 0 || right > document.documentElement.clientWidth) cut.push(number + " is off the screen");
      const cell = around.closest("td, th, li > *, dd, dt");
      if (cell && !fits(cell.getBoundingClientRect())) cut.push(number + " leaves its cell");
      for (let box = around; box; box = box.parentElement) {
        const bounds = box.getBoundingClientRect();
        const clips = getComputedStyle(box).overflow !== "visible" && box !== document.body;
        if (clips && !(fits(bounds) && top >= bounds.top - 0.5 && bottom <= bounds.bottom + 0.5))
          cut.push(number + " is cut off by ." + box.className);
      }
    }
  }
  return { numbers, cut, wide: document.documentElement.scrollWidth - document.documentElement.clientWidth };
})()`;

/** Begins to add up how far what stands on the page is moved by what is loaded. Its unit: 1 is a whole screen by a whole screen. */
const MEASURE_SHIFT = `
globalThis.shift = 0;
new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) shift += value;
}).observe({ type: "layout-shift", buffered: true });
`;
/** The sum, once what was painted so far is measured. */
const SHIFT =
  "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(shift), 50))))";
const MAX_SHIFT = 0.05;
const [charted] = SAMPLE_SNAPSHOT.charts.bsc;
/** Ten tokens on the chart, from this one on. */
function chartFrom(first: number): Snapshot {
  if (!charted) throw new Error("no sample");
  const bsc = Array.from({ length: 10 }, (_, place) => {
    const at = (first + place) % 10;
    const token = { ...charted.flare.token, symbol: `T${at}`, address: `0x${String(at).padStart(40, "0")}` };
    return { ...charted, id: `3b241101-e2bb-5255-8caf-00000000000${at}`, flare: { ...charted.flare, token } };
  });
  return { ...SAMPLE_SNAPSHOT, charts: { ...SAMPLE_SNAPSHOT.charts, bsc } };
}

describe.skipIf(executable === undefined)("the layout of the dashboard in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch(executable ?? "");
  });
  afterAll(() => browser?.close());

  const open = (finish: Finish, snapshot: Snapshot, options: BrowserContextOptions = {}) =>
    openDashboard(browser, finish, new ToldMarket(snapshot), { options });

  test("no number is cut off, and no page is wider than the screen, from 320 to 1920 pixels", async ({
    onTestFinished,
  }) => {
    const { page, goto } = await open(onTestFinished, WIDE);
    for (const name of PAGES) {
      await goto(name);
      if (name.startsWith("token")) await page.locator(".episodes li").first().waitFor();
      for (let width = 320; width <= 1_920; width += width < 1_200 ? 20 : 80) {
        await page.setViewportSize({ width, height: 900 });
        const found = (await page.evaluate(CUT_NUMBERS)) as { numbers: number };
        expect(found.numbers, name).toBeGreaterThanOrEqual(name === "events" ? 2 : 5);
        expect(found, `${name} at ${width}`).toEqual({ numbers: found.numbers, cut: [], wide: 0 });
      }
    }
  });

  for (const width of [390, 768, 1_440]) {
    test(`nothing moves while a page is loaded, at ${width} pixels`, async ({ onTestFinished }) => {
      const many = [
        SAMPLE_FLARE,
        ...Array.from({ length: 29 }, (_, at) => ({ ...SAMPLE_FLARE, id: `flare-${at}` })),
      ];
      const flares = { free: many, pro: many, finished_trending: many };
      const { page, goto } = await openDashboard(
        browser,
        onTestFinished,
        new ToldMarket({ ...SAMPLE_SNAPSHOT, flares }),
        { options: { viewport: { width, height: 900 } } },
      );
      await page.addInitScript(MEASURE_SHIFT);
      // A token's history comes last.
      await page.route("**/api/v1/events?*", async (route) => {
        await page.locator(".plot canvas").waitFor();
        await page.evaluate(SHIFT);
        await route.continue();
      });
      for (const name of PAGES) {
        await page.goto("about:blank");
        await goto(name);
        if (name.startsWith("token")) await page.locator(".episodes li").first().waitFor();
        expect(await page.evaluate(SHIFT), name).toBeLessThan(MAX_SHIFT);
      }
    });
  }

  test("a chart's tokens glide to their new positions, or jump where the visitor wants no motion", async ({
    onTestFinished,
  }) => {
    const shifts = { "no-preference": 0, reduce: 0 };
    for (const reducedMotion of ["no-preference", "reduce"] as const) {
      const market = new ToldMarket(chartFrom(0));
      const { page, goto } = await openDashboard(browser, onTestFinished, market, {
        options: { reducedMotion },
      });
      await page.addInitScript(MEASURE_SHIFT);
      await goto("charts");
      const first = page.locator("section[aria-labelledby=chart-bsc] li").first();
      await first.getByText("T0").waitFor();
      market.show(chartFrom(5));
      await first.getByText("T5").waitFor();
      shifts[reducedMotion] = Number(await page.evaluate(SHIFT));
      // In the end every one stands where it is laid out.
      await expect
        .poll(() => page.evaluate('document.querySelectorAll("li[style*=translate]").length'))
        .toBe(0);
    }
    expect(shifts["no-preference"]).toBeLessThan(0.01);
    expect(shifts.reduce).toBeGreaterThan(0.02);
  });
});
