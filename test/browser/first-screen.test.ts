import { describe, expect, test } from "vitest";
import type { Snapshot } from "../../src/base/model/index.ts";
import { findChromium } from "./chromium.ts";
import { FlaresMarket, marketOf, pro } from "./flares-market.ts";
import { openDashboard, shareDashboard } from "./open-dashboard.ts";

/** How far the first row may be from the top, and how many rows must be whole, by screen. */
const SCREENS = [
  { width: 1_440, height: 900, top: 300, rows: 8 },
  { width: 721, height: 900, top: 300, rows: 8 },
  { width: 390, height: 844, top: 270, rows: 5 },
  { width: 844, height: 390, top: 230, rows: 2 },
] as const;

/** The tops and bottoms of the rows, and where the bar of places begins. */
const ROWS = `(() => {
  const { top, height } = document.querySelector("[aria-label=Pages]").getBoundingClientRect();
  const rows = [...document.querySelectorAll(".flares tbody tr")].map((row) => row.getBoundingClientRect());
  return { rows: rows.map(({ top, bottom }) => [top, bottom]), end: top > 100 ? top : innerHeight };
})()`;

describe.skipIf(findChromium() === undefined)("the first screen of the dashboard in Chromium", () => {
  const shared = shareDashboard(() => new FlaresMarket(marketOf(10, 10)));

  for (const { width, height, top, rows: wanted } of SCREENS)
    test(`at ${width}×${height} the first of ten flares is at most ${top} pixels down, and ${wanted} are whole`, async () => {
      const { page, goto } = await shared({ viewport: { width, height } });
      await goto("now");
      const { rows, end } = (await page.evaluate(ROWS)) as {
        readonly rows: readonly (readonly [number, number])[];
        readonly end: number;
      };
      expect(rows).toHaveLength(10);
      expect(rows[0]?.[0]).toBeLessThanOrEqual(top);
      expect(rows.filter(([, bottom]) => bottom <= end).length).toBeGreaterThanOrEqual(wanted);
    });

  test("on a phone the line of choices fades at its end, and the last choice scrolls out of the fade", async () => {
    const { page, goto } = await shared({ viewport: { width: 390, height: 844 } });
    const scrolled = `(() => {
      const line = document.querySelector(".filters");
      line.scrollLeft = line.scrollWidth;
      const last = [...line.querySelectorAll("label, button")].at(-1).getBoundingClientRect();
      return { mask: getComputedStyle(line).maskImage, left: line.scrollLeft, end: Math.ceil(innerWidth - last.right) };
    })()`;
    for (const name of ["now", "finished"]) {
      await goto(name);
      const { mask, left, end } = (await page.evaluate(scrolled)) as Record<string, unknown>;
      expect(mask).toMatch(/^linear-gradient\(.* 40px\)$/);
      expect(left).toBeGreaterThan(0);
      expect(end).toBeGreaterThanOrEqual(40);
    }
  });

  test("a running flare that is drained is in a red group above all others, and its first warning is filled", async ({
    onTestFinished,
  }) => {
    const market = marketOf(3, 0);
    const [, drained] = pro;
    const why = market.explanations[drained?.id ?? ""];
    if (!drained || !why) throw new Error("no sample");
    const warned: Snapshot = {
      ...market,
      explanations: { ...market.explanations, [drained.id]: { ...why, warnings: ["liquidity-plunged"] } },
    };
    const { page, goto } = await openDashboard(onTestFinished, new FlaresMarket(warned));
    await goto("now?order=change");
    const [first, ...others] = await page.locator(".flares tbody th").allInnerTexts();
    expect(first).toBe("Being drained now: 1");
    expect(others.map((text) => text.split("\n")[0])).toEqual(["T2", "T1", "T3"]);
    const filled = `getComputedStyle(document.querySelector(".dangers .pill")).backgroundColor`;
    expect(await page.evaluate(filled)).toBe("rgb(200, 30, 43)");
  });
});
