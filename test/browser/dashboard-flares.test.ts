import { describe, expect, test } from "vitest";
import { SAMPLE_EXPLANATION } from "../support/world/samples.ts";
import { findChromium } from "./chromium.ts";
import { clock, FlaresMarket, MARKET, RUNNING, showCandles, symbols } from "./flares-market.ts";
import { shareDashboard } from "./open-dashboard.ts";

describe.skipIf(findChromium() === undefined)("what the dashboard shows of flares in Chromium", () => {
  const shared = shareDashboard(() => new FlaresMarket(MARKET), showCandles);

  test("a flare's row has the plot of the last hour, its changes, what is traded, and its reasons in short", async () => {
    const { page, goto } = await shared();
    await goto("now");
    const row = page.locator(".flares tbody tr").first();
    await row.locator(".flare-plot path.price-line").waitFor();
    expect(await row.locator(".flare-plot").getAttribute("aria-label")).toMatch(
      /^Price of the last hour: between 0\.0₅6\d+ and 0\.00001234$/,
    );
    const cell = (name: string) => row.locator(`td.${name}`).innerText();
    // It started a minute ago, within a percent of the last close.
    expect(await cell("since")).toMatch(/^(\+1|±0) %$/);
    expect([await cell("price"), await cell("five"), await cell("volume")]).toEqual([
      ...["$0.00001234", "+14 %", "$600"],
    ]);
    expect(Number.parseInt(await cell("sixty"), 10)).toBeGreaterThan(70);
    expect(await row.locator(".sides > span").allInnerTexts()).toEqual(["41", "9"]);
    expect(await row.locator(".why-chips").innerText()).toBe("+8 % vs normal");
    expect(await row.locator(".why-chips").getAttribute("title")).toBe(SAMPLE_EXPLANATION.text);
    // The others have no candles, so their changes are not known.
    expect(await page.locator(".flares tbody tr").nth(1).locator(".since").innerText()).toBe("–");
  });

  test("j and k move through the rows, * watches one, Enter opens it, f shows the finished, ? lists the keys", async () => {
    const { page, goto } = await shared();
    await goto("now");
    const rows = page.locator(".flares tbody tr");
    const focused = () => page.evaluate("document.activeElement.closest('tr')?.rowIndex");
    // The keys load after the page.
    await expect
      .poll(async () => {
        await page.keyboard.press("k");
        return focused();
      })
      .toBe(1);
    await page.keyboard.press("j");
    expect(await focused()).toBe(2);
    await page.keyboard.press("k");
    expect(await focused()).toBe(1);
    const star = rows.first().locator(".star");
    for (const isWatched of ["true", "false"]) {
      await page.keyboard.press("*");
      await expect.poll(() => star.getAttribute("aria-pressed")).toBe(isWatched);
    }
    const link = (await rows.first().locator("th a").getAttribute("href")) ?? "no link";
    await page.keyboard.press("Enter");
    await page.locator(".token-page").waitFor();
    expect(page.url()).toContain(link);
    await page.keyboard.press("f");
    await page.locator(".finished tbody tr").first().waitFor();
    await page.keyboard.press("f");
    await rows.first().waitFor();
    await expect.poll(() => new URL(page.url()).hash).toBe("#/now");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("Next and previous row").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("a finished flare's row has how it ended and its changes since its start", async () => {
    const { page, goto } = await shared();
    await goto("finished");
    const row = page.locator(".flares tbody tr").first();
    expect(await row.locator("td.number").allInnerTexts()).toEqual([
      ...["+14 %", "+5 %", "+11 %", "–", "–", "$100K"],
    ]);
    expect(await row.locator(".how").innerText()).toMatch(/^possible rug\s+[45]\d min ago, after 30 min$/);
    expect(await row.locator(".flare-plot .mark").count()).toBe(3);
    expect(await page.locator(".pill.rug").count()).toBe(5);
  });

  test("what just ended is below what flares now, and a running flare that is drained is in a red group above all", async () => {
    const { page, goto } = await shared();
    await goto("now");
    expect(await page.locator(".headline h2").innerText()).toBe(`${RUNNING} tokens are flaring on BSC`);
    expect(await page.locator(".headline p").innerText()).toContain(
      "5 of 10 that ended in the last hour were possible rugs.",
    );
    const ended = page.locator(".just-ended tbody tr");
    expect(await ended.locator("th a").allTextContents()).toEqual([
      ...["T100", "T101", "T102", "T103", "T104", "T105"],
    ]);
    expect(await page.locator(".dangers").count()).toBe(0);
  });

  test("the strip shows each flare with its fate, and its details on hover and on keyboard focus", async () => {
    const { page, goto } = await shared();
    await goto("now");
    for (const [fate, count] of Object.entries({ flaring: RUNNING, faded: 5, canary: 5 }))
      await expect.poll(() => page.locator(`.bar.${fate}`).count(), { message: fate }).toBe(count);
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
    const focused = () => page.evaluate("document.activeElement.textContent");
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

  test("an empty watch list cannot become an alert until a token is on it", async () => {
    const { page, goto } = await shared();
    await goto("now");
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
    await goto("now?min_liquidity=10000&warnings=none");
    await page.getByRole("button", { name: "+ Filter" }).click();
    expect(await page.getByRole("combobox", { name: /^Liquidity/ }).inputValue()).toBe("10000");
    expect((await symbols(page)).length).toBe(RUNNING - 9);
    await page.getByRole("button", { name: "Use in a bot" }).click();
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
