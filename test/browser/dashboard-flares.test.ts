import { describe, expect, test } from "vitest";
import { withWholeUnits } from "../../src/base/lib/text/percent.ts";
import { SAMPLE_EXPLANATION } from "../support/world/samples.ts";
import { findChromium } from "./chromium.ts";
import { clock, ended, MARKET, RUNNING, showCandles, symbols } from "./flares-market.ts";
import { shareDashboard } from "./open-dashboard.ts";
import { ToldMarket } from "./told-market.ts";

const REASON = withWholeUnits(SAMPLE_EXPLANATION.text);

describe.skipIf(findChromium() === undefined)("what the dashboard shows of flares in Chromium", () => {
  const shared = shareDashboard(() => new ToldMarket(MARKET), showCandles);

  test("a flare's row has the plot of the last hour, the change since its start, and its reason in words", async () => {
    const { page, goto } = await shared();
    await goto("flares");
    const row = page.locator(".flares tbody tr").first();
    await row.locator(".flare-plot path.price-line").waitFor();
    expect(await row.locator(".flare-plot").getAttribute("aria-label")).toMatch(
      /^Price of the last hour: between 0\.0₅6\d+ and 0\.00001234$/,
    );
    // It started a minute ago, within a percent of the last close.
    expect(await row.locator(".since").innerText()).toMatch(/^≈ (\+1|±0) %$/);
    expect(await row.locator(".why-sentence").innerText()).toBe(REASON);
    // The others have no candles, so no change is shown.
    expect(await page.locator(".flares tbody tr").nth(1).locator(".since").innerText()).toBe("–");
    // The market is simulated, so there are no links to other sites.
    expect(await row.locator(".actions a[target]").count()).toBe(0);
  });

  test("a finished flare's row has its outcome, how it ended, and its last reason", async () => {
    const { page, goto } = await shared();
    await goto("flares?channels=flares.finished");
    const row = page.locator(".flares tbody tr").first();
    expect(await row.locator("td").allInnerTexts()).toEqual([
      "",
      ...["+14 %", "+5 %", "+11 %", "–", "–"],
      expect.stringMatching(/^possible rug [45]\d min ago, at [\d:]{8} after flaring for 30m 00s/),
    ]);
    expect(await row.locator(".why-sentence").innerText()).toBe(`At its end: ${REASON}`);
    expect(await row.locator(".flare-plot .mark").count()).toBe(3);
    const time = row.locator("time");
    expect(await time.getAttribute("title")).toBe(ended[0]?.finished_trending_at);
    expect(await page.locator(".fate.canary").count()).toBeGreaterThan(1);
  });

  test("the timeline shows each flare with its fate, and its details on hover and on keyboard focus", async () => {
    const { page, goto } = await shared();
    await goto("flares");
    expect(await page.locator(".fates").innerText()).toMatch(
      new RegExp(`${RUNNING} flaring now\\s+5 possible rugs, 5 in the last hour\\s+5 other ends`),
    );
    for (const [fate, count] of Object.entries({ flaring: RUNNING, faded: 5, canary: 5 }))
      expect(await page.locator(`.bar.${fate}`).count(), fate).toBe(count);
    const ends = page.locator(".fates a", { hasText: "possible rug" });
    expect(await ends.getAttribute("href")).toBe("#/flares?channels=flares.finished&cause=canary");
    const card = page.locator(".bar-card");
    await page.locator(".bar.canary").first().hover();
    await card.waitFor();
    expect(await card.innerText()).toMatch(
      new RegExp(`^T100.*possible rug at ${clock(-40.5)} after flaring for 30m 00s.*peak`, "s"),
    );
    // The card stays under the pointer for longer than the delay after which it would hide.
    await card.hover();
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 400))");
    expect(await card.innerText()).toMatch(/^T100/);
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
    await page.locator(".bar.canary").first().hover();
    await card.waitFor();
    await page.mouse.move(0, 0);
    await card.waitFor({ state: "detached" });
    // One bar is in the tab order, and the arrows move to the others.
    expect(await page.locator('.bar[tabindex="0"]').count()).toBe(1);
    await page.locator('.bar[tabindex="0"]').focus();
    const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")');
    expect(await focused()).toBe(`T1, flaring since ${clock(-1)}`);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(focused).toMatch(/^T2, flaring/);
    await page.keyboard.press("Home");
    await expect.poll(focused).toBe(`T109, activity faded at ${clock(-49.5)} after flaring for 30m 00s`);
    await card.filter({ hasText: "T109" }).waitFor();
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    // A finished flare opens its own page.
    await page.locator("h1", { hasText: "T109" }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/flare\//);
  });

  test("the list of finished flares says what ended in the last hour, by cause in its words", async () => {
    const { page, goto } = await shared();
    const recent = page.locator(".last-hour b");
    for (const [cause, text] of [
      ["", "10 flares ended in the last hour"],
      ["&cause=canary", "5 possible rugs in the last hour"],
      ["&cause=faded", "5 flares ended this way in the last hour"],
      ["&cause=silent", "0 flares ended this way in the last hour"],
    ]) {
      await goto(`flares?channels=flares.finished${cause}`);
      await expect.poll(() => recent.innerText()).toBe(text);
    }
  });

  test("an empty watch list cannot become an alert until a token is on it", async () => {
    const { page, goto } = await shared();
    await goto("flares");
    const panel = page.getByRole("dialog", { name: "Alerts" });
    const add = panel.getByRole("button", { name: "Add watch list" });
    for (const isEmpty of [true, false]) {
      await page.getByRole("button", { name: "Alert me", exact: true }).click();
      await panel.getByText(isEmpty ? "It is empty." : "1 token marked ★").waitFor();
      expect(await add.isDisabled()).toBe(isEmpty);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Watch T1", exact: true }).click();
    }
  });

  test("the code for a bot has the current filter in each language", async () => {
    const { page, goto } = await shared();
    await goto("flares?min_liquidity=10000&warnings=none");
    expect(await page.getByLabel("Liquidity").inputValue()).toBe("10000");
    expect((await symbols(page)).length).toBe(RUNNING - 9);
    await page.getByRole("button", { name: "Use this in a bot" }).click();
    const sample = page.locator("dialog pre");
    await sample.waitFor();
    for (const name of ["curl", "TypeScript", "Python", "Telegram", "Webhook"]) {
      await page.getByRole("radio", { name }).check();
      expect(await sample.innerText(), name).toMatch(/min_liquidity\W+10000/);
    }
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
  });
});
