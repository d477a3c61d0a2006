import { describe, expect, test } from "vitest";
import type { Snapshot } from "../../src/base/model/index.ts";
import { MAX_NEWS } from "../../src/clients/dashboard/state/feed/news.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../support/world/samples.ts";
import { findChromium, widthsFor } from "./chromium.ts";
import { CUT_NUMBERS } from "./cut-numbers.ts";
import { openDashboard, shareDashboard, waitForCount } from "./open-dashboard.ts";
import { ToldMarket } from "./told-market.ts";
import { WIDE } from "./wide-market.ts";

const PAGES = [
  "now",
  "finished",
  "now?group=exchange",
  "markets?board=new",
  "markets",
  "markets?board=longest",
  "feed",
  `token/${SAMPLE_FLARE.token.address}`,
] as const;

/** Starts to sum up layout shifts. A sum of 1 is the whole screen moved by its height. */
const MEASURE_SHIFT = `
globalThis.shift = 0;
globalThis.addShifts = (entries) => {
  for (const { value } of entries) shift += value;
};
globalThis.shifts = new PerformanceObserver((list) => addShifts(list.getEntries()));
shifts.observe({ type: "layout-shift", buffered: true });
`;
/** Returns the sum, including everything painted so far. */
const SHIFT = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
  addShifts(shifts.takeRecords());
  resolve(shift);
})))`;
const MAX_SHIFT = 0.05;
/** Makes the page's clock tick between frames, too. */
const HASTEN_TICKS = `
const { setInterval: every } = window;
window.setInterval = (run, ms, ...more) => every(run, ms === 1_000 ? 4 : ms, ...more);
`;
/** Window widths. In `npm test` each shows some of the pages, in `npm run soak` all. */
const WINDOWS = IS_SOAK ? [390, 768, 1_440] : [390, 1_440];
const pagesAt = (width: number, pages: readonly string[]) =>
  pages.filter((_, at) => IS_SOAK || at % WINDOWS.length === WINDOWS.indexOf(width));
/** Changes of the market. Each has at least a start and an end. */
const STEPS = IS_SOAK ? 20 : 12;
/** Pages whose loading is measured. */
const LOADED: readonly string[] = IS_SOAK
  ? [...PAGES, "token/exchange/BTC"]
  : ["now", "markets?board=new", "markets", `token/${SAMPLE_FLARE.token.address}`, "token/exchange/BTC"];
const [charted] = SAMPLE_SNAPSHOT.charts.bsc;
/** Returns a chart of ten tokens, starting with this one. */
function chartFrom(first: number): Snapshot {
  if (!charted) throw new Error("no sample");
  const bsc = Array.from({ length: 10 }, (_, place) => {
    const at = (first + place) % 10;
    const token = { ...charted.flare.token, symbol: `T${at}`, address: `0x${String(at).padStart(40, "0")}` };
    return { ...charted, id: `3b241101-e2bb-5255-8caf-00000000000${at}`, flare: { ...charted.flare, token } };
  });
  return { ...SAMPLE_SNAPSHOT, charts: { ...SAMPLE_SNAPSHOT.charts, bsc } };
}

/** Returns a market. Each step starts, changes and ends flares, with names of all lengths. */
function flaring(step: number): Snapshot {
  const flareOf = (at: number) => ({
    ...SAMPLE_FLARE,
    id: `flare-${at}`,
    recent_price_change: (at * 7 + step) % 300,
    latest_buy_count: 10 ** (step % 5),
    token: {
      ...SAMPLE_FLARE.token,
      ...(at % 5 === 0
        ? {}
        : { symbol: "LONG".repeat(1 + (at % 6)), address: `0x${String(at).padStart(40, "0")}` }),
    },
  });
  const running = Array.from({ length: 3 }, (_, place) => flareOf(step + place));
  const finished = Array.from({ length: Math.min(5, step) }, (_, place) => flareOf(step - 1 - place));
  const charts = { ...SAMPLE_SNAPSHOT.charts, bsc: step % 2 === 0 ? SAMPLE_SNAPSHOT.charts.bsc : [] };
  return {
    ...SAMPLE_SNAPSHOT,
    charts,
    flares: { free: running, pro: running, finished_trending: finished },
  };
}

describe.skipIf(findChromium() === undefined)("the layout of wide numbers in Chromium", () => {
  const shared = shareDashboard(() => new ToldMarket(WIDE));

  test("no number is cut off, and no page is wider than the screen, from 320 to 1920 pixels", async () => {
    const { page, goto } = await shared();
    const symbol = encodeURIComponent(WIDE["flares.exchange"].pro[0]?.token.symbol ?? "");
    for (const [at, name] of [...PAGES, `token/exchange/${symbol}`].entries()) {
      await goto(name);
      if (name.startsWith("token")) await page.locator(".episodes tbody tr").first().waitFor();
      for (const width of widthsFor(at)) {
        await page.setViewportSize({ width, height: 900 });
        // A plot takes its new size a frame after the window.
        const look = async () => {
          const { numbers, ...found } = (await page.evaluate(CUT_NUMBERS)) as { numbers: number };
          return { ...found, isFilled: numbers >= (name === "feed" ? 2 : 4) };
        };
        await expect
          .poll(look, { message: `${name} at ${width}`, interval: 10 })
          .toEqual({ isFilled: true, cut: [], wide: 0 });
      }
    }
  });

  test("no reason and no warning of a flare is cut off or overlaps its neighbor", async () => {
    const { page, goto } = await shared();
    const cut = `[...document.querySelectorAll(".flares tbody .why-chips")].filter((one) => one.checkVisibility())
      .map((one) => {
        const row = one.closest("tr").getBoundingClientRect();
        return [...one.children].filter((chip) => chip.checkVisibility()).map((chip) => {
          const { top, bottom, right } = chip.getBoundingClientRect();
          return top >= row.top && bottom <= row.bottom && right <= innerWidth;
        });
      })`;
    await goto("now");
    for (const width of [320, 390, 901, 1_041, 1_241, 1_440, 1_920]) {
      await page.setViewportSize({ width, height: 900 });
      const rows = ((await page.evaluate(cut)) as readonly (readonly boolean[])[]).flat();
      expect(rows.length, `${width}`).toBeGreaterThanOrEqual(2);
      expect(rows, `${width}`).not.toContain(false);
    }
  });

  test("the status details are within the window, and cover no control of the header", async () => {
    const { page, goto } = await shared();
    await goto("now");
    await page.locator(".status summary").click();
    const covered = `[...document.querySelectorAll("header :is(a, button, summary)")].filter((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return width > 0 && !one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    }).map((one) => one.textContent)`;
    for (const width of [320, 390, 720, 800, 960, 1_280, 1_440]) {
      await page.setViewportSize({ width, height: 844 });
      const box = await page.locator(".status dl").boundingBox();
      expect(box?.x, `${width}`).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0), `${width}`).toBeLessThanOrEqual(width);
      expect(await page.evaluate(covered), `${width}`).toEqual([]);
      expect(await page.locator(".status .origin").isVisible(), `the kind of market at ${width}`).toBe(true);
    }
    await page.locator(".status summary").click();
  });

  test("a click outside the status details closes them, as do Escape, a new focus and another page", async () => {
    const { page, goto } = await shared({ viewport: { width: 390, height: 844 } });
    await goto("now");
    const summary = page.locator(".status summary");
    const details = page.locator(".status dl");
    const focused = () => page.evaluate("document.activeElement.closest('summary, button')?.tagName");
    const closed = { state: "hidden" } as const;
    for (const width of [390, 1_440]) {
      await page.setViewportSize({ width, height: 844 });
      await summary.click();
      await details.click();
      expect(await details.isVisible()).toBe(true);
      await page.mouse.click(width / 2, 840);
      await details.waitFor(closed);
      await summary.click();
      await page.evaluate("document.activeElement.blur()");
      await page.keyboard.press("Escape");
      await details.waitFor(closed);
      expect(await focused()).toBe("SUMMARY");
      await page.keyboard.press("Enter");
      await details.waitFor();
      await page.keyboard.press("Tab");
      await details.waitFor(closed);
      expect(await focused()).toBe("BUTTON");
    }
    await summary.click();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Feed" }).click();
    await page.getByRole("heading", { name: "Feed" }).waitFor();
    await details.waitFor(closed);
  });

  test("on a phone the places are on one line at the bottom of the screen, and each target is at least 44 pixels high", async () => {
    const { page, goto } = await shared({ viewport: { width: 390, height: 844 } });
    await goto("now");
    const places = page.locator("[aria-label=Pages] a:visible");
    const boxes = await places.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
    expect(boxes).toHaveLength(5);
    expect(new Set(boxes.map(({ bottom }) => bottom))).toEqual(new Set([844]));
    for (const { height } of boxes) expect(height).toBeGreaterThanOrEqual(44);
    const small = `[...document.querySelectorAll("header :is(button, summary), .headline button")]
      .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
      .map((one) => one.textContent)`;
    expect(await page.evaluate(small)).toEqual([]);
  });
});

describe.skipIf(findChromium() === undefined)("the layout of the dashboard in Chromium", () => {
  for (const width of WINDOWS) {
    test(`the layout barely shifts while a page loads, at ${width} pixels`, async ({ onTestFinished }) => {
      const many = [
        SAMPLE_FLARE,
        ...Array.from({ length: 29 }, (_, at) => ({ ...SAMPLE_FLARE, id: `flare-${at}` })),
      ];
      const flares = { free: many, pro: many, finished_trending: many };
      const { page, goto } = await openDashboard(
        onTestFinished,
        new ToldMarket({ ...SAMPLE_SNAPSHOT, flares }),
        { look: { viewport: { width, height: 900 }, scripts: [MEASURE_SHIFT] } },
      );
      // The token's history arrives last.
      await page.route("**/api/v1/events?*", async (route) => {
        if (page.url().includes("token")) {
          await page.locator(".token-chart").waitFor();
          await page.evaluate(SHIFT);
        }
        await route.continue();
      });
      for (const name of pagesAt(width, LOADED)) {
        await page.goto("about:blank");
        await goto(name);
        if (name.startsWith("token")) await page.locator(".episodes tbody tr").first().waitFor();
        expect(await page.evaluate(SHIFT), name).toBeLessThan(MAX_SHIFT);
      }
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });
  }

  for (const width of IS_SOAK ? WINDOWS : WINDOWS.slice(0, 1)) {
    test(`the layout barely shifts while events arrive, at ${width} pixels`, async ({ onTestFinished }) => {
      const market = new ToldMarket(flaring(0));
      const { page, goto } = await openDashboard(onTestFinished, market, {
        look: { viewport: { width, height: 900 }, scripts: [MEASURE_SHIFT, HASTEN_TICKS] },
      });
      const shifts: Record<string, number> = {};
      for (const name of pagesAt(width, ["feed", `token/${SAMPLE_FLARE.token.address}`])) {
        await page.goto("about:blank");
        await goto(name);
        if (name === "feed") await page.locator(".feed p").first().waitFor();
        else await page.locator(".episodes tbody tr").first().waitFor();
        for (let step = 1; step <= STEPS; step++) {
          market.show(flaring(step));
          await page.evaluate("new Promise(requestAnimationFrame)");
        }
        if (name === "feed")
          await page.locator(`.events tbody tr:nth-child(${STEPS * 1.5})`).waitFor({ state: "attached" });
        shifts[name] = Number(await page.evaluate(SHIFT));
        if (name !== "feed") continue;
        // Each line is as high as its text, and cuts none off.
        const lines = `[...document.querySelectorAll(".events tbody tr")].map((line) =>
          [line.clientHeight, line.scrollHeight > line.clientHeight + 1])`;
        const found = (await page.evaluate(lines)) as readonly (readonly [number, boolean])[];
        expect(found.some(([, isCut]) => isCut)).toBe(false);
        // The longest sentence takes five lines on a phone, but these take one.
        expect(Math.max(...found.map(([height]) => height))).toBeLessThan(80);
      }
      for (const [name, shift] of Object.entries(shifts)) expect(shift, name).toBeLessThan(MAX_SHIFT);
    });
  }

  test("no number of an update is cut off on a phone", async ({ onTestFinished }) => {
    const of = (flare: typeof SAMPLE_FLARE) => ({
      ...SAMPLE_SNAPSHOT,
      flares: { free: [], pro: [flare], finished_trending: [] },
    });
    const market = new ToldMarket(of(SAMPLE_FLARE));
    const { page, goto } = await openDashboard(onTestFinished, market);
    await goto("feed?updates=true");
    market.show(
      of({
        ...SAMPLE_FLARE,
        ...{ recent_price_change: -16, previous_price_change: 143, liquidity: "25812.5" },
        ...{ latest_buy_count: 1_179, latest_sell_count: 1_161 },
        token: { ...SAMPLE_FLARE.token, price: "0.00005678" },
      }),
    );
    await page.locator(".events .words", { hasText: "price 0.00005678" }).waitFor();
    for (const width of [320, 359, 360, 390]) {
      await page.setViewportSize({ width, height: 640 });
      expect(await page.evaluate(CUT_NUMBERS), `at ${width}`).toMatchObject({ cut: [], wide: 0 });
    }
  });

  test("new events are held back while the visitor reads, and appear on a click of the button or when the pointer leaves", async ({
    onTestFinished,
  }) => {
    const market = new ToldMarket(flaring(0));
    const { gateway, page, goto } = await openDashboard(onTestFinished, market);
    await goto("feed?updates=true");
    const newest = () => page.locator(".events time").first().getAttribute("data-seq");
    const button = page.getByRole("button", { name: /^Show \d+ new$/ });
    let step = 0;
    /** Sends events, and waits until the page has counted them. */
    const happen = async () => {
      step += 1;
      market.show(flaring(step));
      await expect.poll(() => gateway.head.snapshot.flares.pro[0]?.id).toBe(`flare-${step}`);
      await waitForCount(page, `${gateway.head.cursor.seq - before} since this page was`);
      return `${gateway.head.cursor.seq}`;
    };
    const before = gateway.head.cursor.seq;
    for (let round = 0; round < (IS_SOAK ? 2 : 1); round++) {
      const shown = await happen();
      await expect.poll(newest).toBe(shown);
      await page.locator(".events tbody tr").first().hover();
      const waiting = await happen();
      await button.waitFor();
      expect(await newest()).toBe(shown);
      await page.mouse.move(0, 0);
      await expect.poll(newest).toBe(waiting);
      await button.waitFor({ state: "hidden" });
      await page.evaluate("scrollTo(0, 100)");
      await expect.poll(() => page.evaluate("scrollY")).toBe(100);
      const later = await happen();
      await button.waitFor();
      expect(await newest()).toBe(waiting);
      await button.click();
      await expect.poll(newest).toBe(later);
      expect(await page.evaluate("scrollY")).toBe(0);
      await page.mouse.move(0, 0);
    }
  });

  test("events of two tokens with one symbol show the address of each", async ({ onTestFinished }) => {
    const market = new ToldMarket({ ...SAMPLE_SNAPSHOT, newest: { bsc: [] } });
    const { page, goto } = await openDashboard(onTestFinished, market, {
      look: { viewport: { width: 320, height: 640 } },
    });
    await goto("feed");
    const bsc = ["a", "b"].map((digit) => ({
      ...SAMPLE_FLARE,
      id: digit,
      token: { ...SAMPLE_FLARE.token, symbol: "TWIN", address: `0x${digit.repeat(40)}` },
    }));
    const of = (pro: typeof bsc) => ({ ...SAMPLE_SNAPSHOT, flares: { ...SAMPLE_SNAPSHOT.flares, pro } });
    const twins = page.locator(".events tbody tr", { hasText: "TWIN" });
    market.show(of(bsc.slice(0, 1)));
    await expect.poll(() => twins.locator(".tag").count()).toBe(0);
    await twins.waitFor();
    market.show(of(bsc));
    await expect.poll(() => twins.locator(".tag").allTextContents()).toEqual(["0xbbbb…bbbb", "0xaaaa…aaaa"]);
  });

  test("a full list of news counts the new lines that wait while the visitor reads", async ({
    onTestFinished,
  }) => {
    const [listing] = SAMPLE_SNAPSHOT.newest.bsc;
    if (!listing) throw new Error("no sample");
    const listed = (tokens: number) => {
      const bsc = Array.from({ length: tokens }, (_, at) => ({ ...listing, id: `listing-${at}` }));
      return { ...SAMPLE_SNAPSHOT, newest: { bsc: bsc.reverse() } };
    };
    const market = new ToldMarket(listed(0));
    const { page, goto } = await openDashboard(onTestFinished, market);
    market.show(listed(MAX_NEWS));
    await goto("feed");
    const lines = page.locator(".events tbody tr");
    await expect.poll(() => lines.count()).toBe(MAX_NEWS);
    await lines.first().hover();
    market.show(listed(MAX_NEWS + 2));
    const button = page.getByRole("button", { name: "Show 2 new" });
    await button.waitFor();
    expect(await lines.count()).toBe(MAX_NEWS);
    await page.mouse.move(0, 0);
    await button.waitFor({ state: "hidden" });
  });

  test("the strongest tokens glide to their new positions, or jump with reduced motion", async ({
    onTestFinished,
  }) => {
    const shifts = { "no-preference": 0, reduce: 0 };
    const market = new ToldMarket(chartFrom(0));
    const { page, goto } = await openDashboard(onTestFinished, market, {
      look: { scripts: [MEASURE_SHIFT] },
    });
    await goto("markets?group=bsc");
    const first = page.locator(".strongest tbody tr").first();
    await first.getByText("T0").waitFor();
    for (const [reducedMotion, next] of [
      ["no-preference", 5],
      ["reduce", 0],
    ] as const) {
      await page.emulateMedia({ reducedMotion });
      await page.evaluate("shift = 0");
      market.show(chartFrom(next));
      await first.getByText(`T${next}`).waitFor();
      shifts[reducedMotion] = Number(await page.evaluate(SHIFT));
      // At the end, each one is at its layout position.
      await expect
        .poll(() => page.evaluate('document.querySelectorAll("tr[style*=translate]").length'))
        .toBe(0);
    }
    expect(shifts["no-preference"]).toBeLessThan(0.01);
    expect(shifts.reduce).toBeGreaterThan(0.02);
  });
});
