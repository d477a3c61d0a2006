import { describe, expect } from "vitest";
import { findChromium } from "./chromium.ts";
import { test } from "./docs-fixture.ts";
import { lendPage, ownPage } from "./shared-page.ts";

const PHONE = { width: 360, height: 740 };

describe.skipIf(findChromium() === undefined)("samples of the documents in Chromium", () => {
  test("without scripts the contents lead to a page whose samples can be read, on a phone", async ({
    wire,
    onTestFinished,
  }) => {
    const plain = await ownPage(onTestFinished, { javaScriptEnabled: false, viewport: PHONE });
    await plain.goto(`http://127.0.0.1:${wire.port}/docs`);
    expect(await plain.locator("#map").isVisible()).toBe(false);
    await plain.getByRole("link", { name: "Contents" }).click();
    expect(await plain.locator("#search").isVisible()).toBe(false);
    await plain.locator("#map").getByRole("link", { name: "/record", exact: true }).click();
    await plain.locator("h1", { hasText: "/api/v1/record" }).waitFor();
    const samples = await plain.locator("pre.sample:visible").allTextContents();
    expect(samples.map((text) => /^curl|await|urllib/.exec(text)?.[0])).toEqual(["curl", "await", "urllib"]);
  });

  test("samples are tabs for the keyboard, and have the reader's address and typed key when they are copied", async ({
    keyed,
    onTestFinished,
  }) => {
    const { wire } = keyed;
    const page = await lendPage(onTestFinished);
    const failures: string[] = [];
    page.on("console", (message) => failures.push(message.text()));
    page.on("pageerror", (error) => failures.push(error.message));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`http://127.0.0.1:${wire.port}/docs/rest/get-producer`);
    const tab = (name: string) => page.getByRole("tab", { name });
    const shown = page.getByRole("tabpanel");
    await tab("curl").focus();
    for (const [key, name] of [
      ["ArrowRight", "TypeScript"],
      ["End", "Python"],
      ["ArrowRight", "Python"],
      ["Home", "curl"],
    ] as const) {
      await page.keyboard.press(key);
      expect(await page.locator(":focus").textContent()).toBe(name);
      expect(await page.locator('[role="tab"][tabindex="0"]').allTextContents()).toEqual([name]);
      expect(await shown.count()).toBe(1);
    }
    await page.locator("summary", { hasText: "key" }).click();
    await page.locator("#key").fill("fw_mine");
    await shown.getByRole("button", { name: "Copy" }).click();
    await shown.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(await shown.locator("pre").textContent());
    expect(copied).toMatch(new RegExp(`Bearer fw_mine.*http://127.0.0.1:${wire.port}/api`));
    expect(failures).toEqual([]);
  });
});
