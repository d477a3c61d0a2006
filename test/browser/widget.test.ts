import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { safeText } from "../../src/base/lib/text/safe-text.ts";
import { EMPTY_SNAPSHOT } from "../../src/base/model/index.ts";
import { LedMarket } from "../examples/led-gateway.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { SAMPLE_FLARE } from "../support/world/samples.ts";
import { COLOR_RULES, findViolations } from "./axe.ts";
import { findChromium } from "./chromium.ts";
import { makeKeys } from "./open-dashboard.ts";
import { NASTY, ToldMarket } from "./told-market.ts";
import { ALL, LOOK, openSite as open } from "./widget-site.ts";

const README = readFileSync(new URL("../../src/clients/widget/README.md", import.meta.url), "utf8");
const { address } = SAMPLE_FLARE.token;
const TABS = IS_SOAK ? 10 : 3;

describe.skipIf(findChromium() === undefined)("the widget in Chromium, on a site of another origin", () => {
  const isLive = (page: Page) => page.locator('flare-list[state="live"]').waitFor();
  const symbols = (page: Page) => page.locator("flare-list [part=row] [part=symbol]").allTextContents();
  const show = (page: Page, ...wanted: readonly string[]) => expect.poll(() => symbols(page)).toEqual(wanted);
  /** Simulates that the page becomes visible or hidden. */
  const look = (page: Page, isSeen: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, "hidden", { value: ${!isSeen}, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));`,
    );

  test("the elements show the flares and keep unchanged rows, and the badge shows one token", async ({
    onTestFinished: finish,
  }) => {
    const market = new LedMarket();
    const site = await open(
      finish,
      market,
      `${ALL}<flare-badge id="other" token="0x${"12".repeat(20)}"></flare-badge><flare-badge id="none" token='"><b>'></flare-badge><flare-badge id="cut" token="0x1212"></flare-badge>`,
    );
    const page = await site.tab();
    await isLive(page);
    const badges = page.locator("flare-badge");
    expect(await badges.nth(0).locator("[part=note]").textContent()).toBe("is not flaring (simulated)");
    expect(await page.locator("flare-list [part=note]").textContent()).toBe(
      "no flares right now (simulated)",
    );
    market.start("ONE");
    await show(page, "ONE");
    await page.locator("flare-list [part=row]").evaluate((row) => row.setAttribute("data-kept", ""));
    market.start("TWO");
    await show(page, "TWO", "ONE");
    expect(await page.locator("flare-list [data-kept] [part=symbol]").textContent()).toBe("ONE");
    expect(await page.locator("flare-ticker [part=symbol]").allTextContents()).toEqual(["TWO", "ONE"]);
    expect(await badges.nth(0).getAttribute("flaring")).toBe("");
    expect(await badges.nth(0).locator("[part=badge]").textContent()).toBe("TWO+14 %is flaring (simulated)");
    expect(await page.locator("flare-list [part=note]").textContent()).toBe("(simulated)");
    expect(await badges.nth(0).locator("a").getAttribute("href")).toBe(
      `${site.gateway.url}/#/token/${address}`,
    );
    const other = page.locator("#other [part=badge]");
    expect(await other.textContent()).toBe("0x1212…1212is not flaring (simulated)");
    // An address that is cut off must not look like one that is not flaring.
    expect(await page.locator("#cut [part=note]").textContent()).toBe("");
    expect(await page.locator("#none [part=note]").textContent()).toBe("");
    await page.locator("flare-list").evaluate((list) => list.setAttribute("limit", "1"));
    await show(page, "TWO");
    market.finish("TWO");
    market.finish("ONE");
    await show(page);
    expect(await badges.nth(0).getAttribute("flaring")).toBe(null);
    expect(site.pageErrors).toEqual(
      ['"><b>', "0x1212"].map((address) => `<flare-badge>: invalid token address "${address}"`),
    );
  });

  test("`columns` selects what a flare shows, and an author's mistake is reported once, in the console", async ({
    onTestFinished: finish,
  }) => {
    const market = new LedMarket();
    const site = await open(
      finish,
      market,
      `<flare-list columns="why price, symbol"></flare-list><flare-list columns="symbol fame" theme="dark"></flare-list><flare-list chain="doge"></flare-list><flare-list></flare-list>`,
    );
    const page = await site.tab();
    await page.locator('flare-list[state="live"]').first().waitFor();
    market.start("ONE");
    const cells = (at: number) =>
      page
        .locator("flare-list")
        .nth(at)
        .locator("[part=row] > *")
        .evaluateAll((all) => all.map((one) => one.getAttribute("part")));
    await expect.poll(() => cells(0)).toEqual(["symbol", "warning", "price", "why"]);
    expect(await page.locator("flare-list").first().locator("[part=price]").textContent()).toMatch(
      /^\d[\d.,]*$/,
    );
    expect(await cells(1)).toEqual(["symbol", "warning"]);
    expect(await cells(2)).toEqual([]);
    expect(await cells(3)).toEqual(["symbol", "warning", "change rise", "name", "since", "site", "why"]);
    market.start("TWO");
    await page.locator("flare-list [part=row]").nth(4).waitFor();
    expect(site.pageErrors.toSorted()).toEqual([
      '<flare-list>: no column "fame" in symbol,change,name,price,since,site,why',
      '<flare-list>: no flares of chain "doge", only of bsc',
    ]);
    // Rise and fall have different colors by default.
    const colors = await page.evaluate(`(() => {
      const [, dark, , plain] = document.querySelectorAll("flare-list");
      const change = plain.shadowRoot.querySelector("[part~=change]");
      const colorOf = (part) => {
        change.setAttribute("part", "change " + part);
        return getComputedStyle(change).color;
      };
      return [colorOf("rise"), colorOf("fall"), colorOf(""), getComputedStyle(dark).backgroundColor];
    })()`);
    expect(colors).toHaveLength(4);
    expect(new Set(colors as string[]).size).toBe(4);
  });

  test("the strip shows running and ended flares as bars, over the connection of the other elements", async ({
    onTestFinished: finish,
  }) => {
    const market = new LedMarket();
    const site = await open(
      finish,
      market,
      `${ALL}<flare-strip theme="dark"></flare-strip><flare-strip hours="99"></flare-strip><script src="SERVER/flare-strip.js" async></script>`,
    );
    const page = await site.tab();
    await isLive(page);
    market.start("ONE");
    market.start("TWO");
    const bars = (fate: string) => page.locator("flare-strip").first().locator(`[part="bar ${fate}"]`);
    await expect.poll(() => bars("flaring").count()).toBe(2);
    market.finish("ONE");
    await expect.poll(() => bars("faded").count()).toBe(1);
    const link = page.locator("flare-strip").first().getByRole("link");
    expect(await link.getAttribute("aria-label")).toBe(
      "2 flares in 6 hours: 1 flaring now, 1 activity faded (simulated)",
    );
    expect(await link.getAttribute("href")).toBe(`${site.gateway.url}/`);
    expect(await bars("flaring").getAttribute("title")).toBe("TWO, flaring now");
    expect(await site.connections()).toBe(1);
    expect(await findViolations(page)).toEqual([]);
    expect(site.pageErrors).toEqual(["<flare-strip>: hours must be above 0 and at most 24"]);
  });

  test("hostile texts in every field stay text: nothing runs, nothing breaks out", async ({
    onTestFinished: finish,
  }) => {
    const { pro: _none, ...lists } = EMPTY_SNAPSHOT.flares;
    const pro = NASTY.map((text, at) => ({
      ...SAMPLE_FLARE,
      id: `3b241101-e2bb-5255-8caf-${String(at).padStart(12, "0")}`,
      social_data: { chat_url: text, microblog_url: text, website_url: text },
      token: { ...SAMPLE_FLARE.token, name: text, symbol: text },
    }));
    const site = await open(finish, new ToldMarket({ ...EMPTY_SNAPSHOT, flares: { ...lists, pro } }));
    const page = await site.tab();
    await isLive(page);
    await show(page, ...NASTY.map(safeText));
    expect(await page.locator("flare-list [part=name]").allTextContents()).toEqual(NASTY.map(safeText));
    expect(await page.evaluate(LOOK)).toEqual({
      ...{ strange: 0, links: [], wide: 0, bidi: false, ran: false },
    });
    expect(site.pageErrors).toEqual([]);
  });

  test("a page in the back/forward cache, or without elements, has no connection, and resumes without a gap", async ({
    onTestFinished: finish,
  }) => {
    const market = new LedMarket();
    const site = await open(finish, market, "<flare-list></flare-list>");
    const page = await site.tab();
    market.start("A");
    await show(page, "A");
    const event = (name: string) => page.evaluate(`window.dispatchEvent(new PageTransitionEvent("${name}"))`);
    const take = () => page.evaluate("(globalThis.list = document.querySelector('flare-list')).remove()");
    const putBack = () => page.evaluate("document.querySelector('main').append(globalThis.list)");
    for (const [away, back, symbol] of [
      [() => event("pagehide"), () => event("pageshow"), "B"],
      [take, putBack, "C"],
      [() => event("pagehide"), () => event("pageshow"), "D"],
    ] as const) {
      await away();
      await expect.poll(site.connections).toBe(0);
      market.start(symbol);
      await back();
      await expect.poll(async () => (await symbols(page))[0]).toBe(symbol);
      expect(await site.connections()).toBe(1);
    }
    expect(await symbols(page)).toEqual(["D", "C", "B", "A"]);
  });

  test(`${TABS} tabs share one connection; when its tab closes, another resumes it, and none misses an event`, async ({
    onTestFinished: finish,
  }) => {
    const market = new LedMarket();
    const site = await open(finish, market);
    const first = await site.tab();
    await isLive(first);
    market.start("A");
    const others = await Promise.all(Array.from({ length: TABS - 1 }, site.tab));
    for (const page of [first, ...others]) await show(page, "A");
    market.start("B");
    for (const page of [first, ...others]) await show(page, "B", "A");
    expect([await site.connections(), await site.opened()]).toEqual([1, 1]);
    await first.close();
    market.start("C");
    for (const page of others) await show(page, "C", "B", "A");
    await expect.poll(site.connections).toBe(1);
    expect(await site.opened()).toBe(2);
    expect(site.pageErrors).toEqual([]);
  });

  test("a tab hands over the connection before it freezes, and resumes without a gap", async ({
    onTestFinished: finish,
  }) => {
    const market = new LedMarket();
    const site = await open(finish, market);
    const first = await site.tab();
    await isLive(first);
    const second = await site.tab();
    await isLive(second);
    await first.evaluate('document.dispatchEvent(new Event("freeze"))');
    await expect.poll(site.opened).toBe(2);
    market.start("A");
    await show(second, "A");
    expect(await symbols(first)).toEqual([]);
    await first.evaluate('document.dispatchEvent(new Event("resume"))');
    await show(first, "A");
    expect([await site.connections(), await site.opened()]).toEqual([1, 2]);
  });

  test.runIf(IS_SOAK)("a silent tab loses the connection to another", async ({ onTestFinished: finish }) => {
    const market = new LedMarket();
    const site = await open(finish, market);
    const [openFirst, openSecond] = await site.timedTabs();
    const first = await openFirst();
    await isLive(first);
    await first.evaluate("BroadcastChannel.prototype.postMessage = () => {}");
    const second = await openSecond();
    await second.locator('flare-list[state="connecting"]').waitFor();
    // Run only until the third missing heartbeat, because the new connection opens in real time and
    // must not time out before.
    await second.evaluate("Math.random = () => 0");
    await second.clock.runFor(16_000);
    await expect.poll(site.opened).toBe(2);
    market.start("A");
    await show(second, "A");
    await show(first, "A");
    expect(await site.connections()).toBe(1);
  });

  test("while no tab is visible there is no connection, and it resumes without a gap", async ({
    onTestFinished: finish,
  }) => {
    const market = new LedMarket();
    const site = await open(finish, market);
    const [openFirst, openSecond] = await site.timedTabs();
    const pages = [await openFirst(), await openSecond()];
    market.start("A");
    for (const page of pages) await show(page, "A");
    for (const page of pages) {
      await look(page, false);
      await page.clock.runFor(10_000);
    }
    await expect.poll(site.connections).toBe(0);
    market.start("B");
    market.finish("A");
    for (const page of pages) await show(page, "A");
    for (const page of pages) await look(page, true);
    for (const page of pages) await show(page, "B");
    expect(await site.connections()).toBe(1);
  });

  test("the README's code shows live flares", async ({ onTestFinished: finish }) => {
    const [, copied = ""] = /```html\n([\s\S]*?)```/.exec(README) ?? [];
    expect(copied).toContain("/widget.js");
    const market = new LedMarket();
    const site = await open(finish, market, copied.replace(/<script.*\n/, ""));
    market.start("ONE");
    const page = await site.tab();
    await show(page, "ONE");
    await page.locator("flare-badge[flaring]").waitFor();
  });

  test("on a server with keys the widget shows what anonymous visitors may see", async ({
    onTestFinished: finish,
  }) => {
    const { keys } = makeKeys(finish);
    const named = (symbol: string, at: number) => ({
      ...SAMPLE_FLARE,
      id: `3b241101-e2bb-5255-8caf-00000000000${at}`,
      token: { ...SAMPLE_FLARE.token, symbol },
    });
    const free = [named("FREE", 1)];
    const pro = [named("PRO", 2), ...free];
    const source = new ToldMarket({ ...EMPTY_SNAPSHOT, flares: { ...EMPTY_SNAPSHOT.flares, free, pro } });
    const site = await open(finish, source, ALL, { keys });
    const page = await site.tab();
    await show(page, "FREE");
    expect(site.pageErrors).toEqual([]);
  });

  test("on a site that the server does not allow, the list says that it is not available", async ({
    onTestFinished: finish,
  }) => {
    const site = await open(finish, new LedMarket(), ALL, { allowedOrigins: "https://app.example.org" });
    const page = await site.tab();
    await page.locator('flare-list[state="refused"]').waitFor();
    expect(await page.locator("flare-list [part=note]").textContent()).toBe("not available");
    expect(site.pageErrors.filter((text) => /^StreamError: the server refused /.test(text))).toHaveLength(1);
  });

  test("the page at /widgets shows each element live, with the code to copy", async ({
    onTestFinished: finish,
  }) => {
    const market = new LedMarket();
    const site = await open(finish, market);
    market.start("ONE");
    const page = await site.tab();
    await show(page, "ONE");
    await page.goto(`${site.gateway.url}/widgets`);
    // The configured one and the list.
    await show(page, "ONE", "ONE");
    await page.locator("flare-badge[flaring]").waitFor();
    const copied = await page.locator("pre").allTextContents();
    expect(copied[3]).toBe(
      `<script src="${site.gateway.url}/widget.js" defer></script>\n<flare-badge token="${address}"></flare-badge>`,
    );
    expect(copied.at(-1)).toContain(`connect-src ${site.gateway.url} ws://`);
    await page.getByLabel("Theme").selectOption("dark");
    await page.getByLabel("why").uncheck();
    await page.getByLabel("Maximum number of flares").fill("3");
    expect(await page.locator("#made").textContent()).toBe(
      `<script src="${site.gateway.url}/widget.js" defer></script>\n<flare-list limit="3" theme="dark" columns="symbol change price"></flare-list>`,
    );
    await page.locator('#preview flare-list[theme="dark"] [part=price]').waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const rules = IS_SOAK || colorScheme === "light" ? undefined : COLOR_RULES;
      expect(await findViolations(page, rules)).toEqual([]);
    }
    await page.getByRole("textbox").fill('0x99"><script>');
    expect(await page.locator("pre").nth(3).textContent()).toContain('token="0x99script"');
    // The console names the author's mistake, and nothing else.
    await expect.poll(() => site.pageErrors).toEqual(['<flare-badge>: invalid token address "0x99script"']);
  });
});
