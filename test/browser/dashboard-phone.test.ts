import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { findChromium } from "./chromium.ts";
import { at, MARKET } from "./flares-market.ts";
import { lendPage } from "./shared-page.ts";
import { ToldMarket } from "./told-market.ts";

const WIDTHS = [320, 360, 390, 430];

/** Returns the text of each element that overlaps the next one. */
const overlaps = (selector: string, gapPx = 1) => `(() => {
  const boxes = [...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => {
    const range = new Range();
    range.selectNodeContents(element);
    return { text: element.textContent, boxes: [...range.getClientRects()] };
  });
  const meet = (a, b) => a.left < b.right + ${gapPx} && b.left < a.right + ${gapPx} && a.top < b.bottom && b.top < a.bottom;
  return boxes.slice(1).flatMap((two, index) => {
    const one = boxes[index];
    return one.boxes.some((a) => two.boxes.some((b) => meet(a, b))) ? [one.text + two.text] : [];
  });
})()`;

describe.skipIf(findChromium() === undefined)("the flares of the dashboard on a phone in Chromium", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway(createConfig({ port: 0, drain: "0", logLevel: "silent" }), {
      source: new ToldMarket(MARKET),
    });
  });
  afterAll(() => gateway?.stop());

  test("the title of a list, now and at a past minute, ends before the button for alerts", async ({
    onTestFinished: finish,
  }) => {
    const page = await lendPage(finish);
    const then = at(-30).slice(0, 16);
    await page.route("**/api/v1/snapshot?*", (route) =>
      route.fulfill({ json: { ...MARKET, observed_at: `${then}:00.000Z` } }),
    );
    const button = page.getByRole("button", { name: "Alert me", exact: true });
    for (const more of ["", `&at=${then}Z`]) {
      await page.goto(`${gateway.url}/#/flares?channels=flares.free${more}`);
      await page.getByRole("heading", { name: "Flaring for 5 minutes or more" }).waitFor();
      await button.waitFor();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const found = await page.evaluate(overlaps("#flares-title, .controls .alerts-button"));
        expect(found, `${width}`).toEqual([]);
      }
    }
  });

  test("the labels of the slider for past minutes are apart and on one line, whatever is stored", async ({
    onTestFinished: finish,
  }) => {
    const page = await lendPage(finish);
    const stored = { "History starts at": at(-20), "Drag to see": at(-2_000), "No history yet": undefined };
    for (const [hint, since] of Object.entries(stored)) {
      await page.route("**/api/v1/history?*limit=1", (route) =>
        route.fulfill({ headers: since ? { "flarewire-stored-since": since } : {} }),
      );
      await page.goto("about:blank");
      await page.goto(`${gateway.url}/#/flares`);
      await page.locator(".scrubber span", { hasText: hint }).waitFor();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate(overlaps(".scrubber > span", 6)), `${width}`).toEqual([]);
        const lines =
          'new Set([...document.querySelectorAll(".scrubber > span")].map((one) => one.offsetTop)).size';
        expect(await page.evaluate(lines), `${width}`).toBe(1);
      }
    }
  });
});
