import { describe, expect, test } from "vitest";
import { tokenPath } from "../../src/base/lib/text/page-path.ts";
import { readFonts } from "../../src/extensions/permalinks/picture/fonts.ts";
import { sharePicture } from "../../src/extensions/permalinks/picture/share-picture.ts";
import { LedMarket } from "../examples/led-gateway.ts";
import { SAMPLE_FLARE } from "../support/world/samples.ts";
import { findViolations } from "./axe.ts";
import { findChromium } from "./chromium.ts";
import { openDashboard } from "./open-dashboard.ts";

const PATH = tokenPath("bsc", SAMPLE_FLARE.token.address.toLowerCase());

/** Colors of the page that its picture has too, as #rrggbb. */
const COLORS = `[
  [document.body, "backgroundColor"],
  [document.body, "color"],
  [document.querySelector(".pill.flaring"), "backgroundColor"],
  [document.querySelector(".token-page .tag"), "color"],
].map(([element, property]) => {
  const parts = getComputedStyle(element)[property].match(/\\d+/g).slice(0, 3);
  return "#" + parts.map((part) => Number(part).toString(16).padStart(2, "0")).join("");
})`;

describe.skipIf(findChromium() === undefined)("the page of a token in Chromium", () => {
  test("it is complete without scripts, and follows the market with them", async ({ onTestFinished }) => {
    const market = new LedMarket();
    const { page, gateway } = await openDashboard(onTestFinished, market, { own: { colorScheme: "dark" } });
    const pageErrors: string[] = [];
    page.on("console", (message) => pageErrors.push(message.text()));
    page.on("pageerror", (error) => pageErrors.push(String(error)));
    market.start("ONE");
    await page.route("**/*.js", (route) => route.abort());
    await expect.poll(async () => (await page.goto(`${gateway.url}/${PATH}`))?.status()).toBe(200);
    await page.locator(".pill.flaring").waitFor();
    expect(await page.locator(".episodes tbody tr").count()).toBe(1);
    expect(await page.locator(".star").count()).toBe(0);
    await page.unroute("**/*.js");
    pageErrors.length = 0;
    await page.reload();
    await page.locator(".star").waitFor();
    const share = page.getByRole("link", { name: "Page of ONE, to share" });
    expect(await share.getAttribute("href")).toBe(`/${PATH}`);
    // The header has the same parts as the dashboard's.
    await page.locator(".status.good .origin", { hasText: "simulated" }).waitFor();
    await page.getByRole("button", { name: "Alerts", exact: true }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("on");
    const found = page.getByRole("option", { name: "ONE" });
    expect(await found.getAttribute("href")).toBe(`/#/${PATH}`);
    await page.keyboard.press("Escape");
    expect(await findViolations(page)).toEqual([]);
    const picture = sharePicture(
      {
        symbol: "ONE",
        name: "",
        isMixed: false,
        fate: ["flaring", "Flaring now"],
        sentence: "",
        figures: [],
        candles: [],
        spans: [],
        note: "",
        market: undefined,
      },
      readFonts().fonts,
    );
    for (const color of (await page.evaluate(COLORS)) as string[]) expect(picture).toContain(color);
    market.finish("ONE");
    await page.locator(".pill.faded", { hasText: "Activity faded" }).waitFor();
    expect(await page.locator(".state").textContent()).toMatch(/^Activity faded /);
    expect(pageErrors).toEqual([]);
    // A lost server.
    market.start("ONE");
    await page.locator(".pill.flaring", { hasText: "Flaring now" }).waitFor();
    await page.clock.install();
    await gateway.stop();
    await page.clock.runFor(10_000);
    await page.locator(".outage", { hasText: "Not connected for" }).waitFor();
    await page.locator(".old .pill", { hasText: "Flaring when last seen" }).waitFor();
  });
});
