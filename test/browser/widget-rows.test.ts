import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { EMPTY_SNAPSHOT } from "../../src/base/model/index.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../support/world/samples.ts";
import { findChromium } from "./chromium.ts";
import { ToldMarket } from "./told-market.ts";
import { openSite as open } from "./widget-site.ts";

describe.skipIf(findChromium() === undefined)("the widget's rows in Chromium", () => {
  const isLive = (page: Page) => page.locator('flare-list[state="live"]').waitFor();

  test("a change of zero is neither a rise nor a fall, and does not break from its unit", async ({
    onTestFinished: finish,
  }) => {
    const { pro: _none, ...lists } = EMPTY_SNAPSHOT.flares;
    const pro = [0, 0, 0, 1, -1].map((recent_price_change, at) => ({
      ...SAMPLE_FLARE,
      id: `3b241101-e2bb-5255-8caf-${String(at).padStart(12, "0")}`,
      recent_price_change,
    }));
    const snapshot = { ...EMPTY_SNAPSHOT, flares: { ...lists, pro } };
    const site = await open(finish, new ToldMarket(snapshot));
    const page = await site.tab();
    await isLive(page);
    const changes = page.locator("flare-list [part~=change]");
    await expect.poll(() => changes.count()).toBe(5);
    const seen = await changes.evaluateAll((all) =>
      all.map((one) => [one.getAttribute("part")?.trim(), one.textContent]),
    );
    expect(seen).toEqual([
      ["change", "±0 %"],
      ["change", "±0 %"],
      ["change", "±0 %"],
      ["change rise", "+1 %"],
      ["change fall", "−1 %"],
    ]);
    const lines = await changes.evaluateAll((all) => all.map((one) => one.getClientRects().length));
    expect(lines).toEqual([1, 1, 1, 1, 1]);
  });

  test("a flare shows the number of its warnings, if any, and a list shows at most 100 flares", async ({
    onTestFinished: finish,
  }) => {
    const { pro: _none, ...lists } = EMPTY_SNAPSHOT.flares;
    const pro = Array.from({ length: 120 }, (_, at) => ({
      ...SAMPLE_FLARE,
      id: `3b241101-e2bb-5255-8caf-${String(at).padStart(12, "0")}`,
    }));
    const why = (at: number, ...warnings: readonly string[]) => [
      pro[at]?.id,
      { ...SAMPLE_EXPLANATION, warnings },
    ];
    const explanations = Object.fromEntries([why(0, "one-buyer"), why(1), why(2, "one-buyer", "no-seller")]);
    const site = await open(
      finish,
      new ToldMarket({ ...EMPTY_SNAPSHOT, flares: { ...lists, pro }, explanations }),
    );
    const page = await site.tab();
    await isLive(page);
    const rows = page.locator("flare-list [part=row]");
    for (const [limit, count] of [
      ["1000", 100],
      ["101", 100],
      ["99", 99],
      ["nonsense", 10],
      ["4", 4],
    ] as const) {
      await page.locator("flare-list").evaluate((list, text) => list.setAttribute("limit", text), limit);
      await expect.poll(() => rows.count()).toBe(count);
    }
    const warnings = page.locator("flare-list [part=warning]");
    const seen = async (at: number) =>
      (await warnings.nth(at).isVisible()) && (await warnings.nth(at).getAttribute("aria-label"));
    expect(await Promise.all([0, 1, 2, 3].map(seen))).toEqual(["1 warning", false, "2 warnings", false]);
    await page.getByText("is flaring ⚠ with warnings").waitFor();
  });
});
