import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { EMPTY_SNAPSHOT } from "../../src/base/model/index.ts";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { LedMarket } from "../examples/led-gateway.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import type { Finish } from "../support/servers/edges.ts";
import { freePort } from "../support/servers/free-port.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../support/world/samples.ts";
import { COLOR_RULES, findViolations } from "./axe.ts";
import { findChromium } from "./chromium.ts";
import { openDashboard, TWO_FRAMES } from "./open-dashboard.ts";
import { type Look, lendPage, ownPage, setLook } from "./shared-page.ts";
import { HOSTILE, ToldMarket } from "./told-market.ts";

const PAGES = [
  "now",
  "finished",
  "markets",
  "markets?board=longest",
  "markets?board=new",
  "feed",
  `token/${SAMPLE_FLARE.token.address}`,
] as const;

/** Effects that hostile texts must not have. */
const LOOK = `({
  strange: document.querySelectorAll("main img, main script, main iframe, main b > i").length,
  links: [...document.querySelectorAll("a")].map(({ href }) => href).filter((href) => !/^https?:/.test(href)),
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  bidi: /[\\u202a-\\u202e\\u2066-\\u2069\\0]/.test(document.body.innerText),
  ran: globalThis.hacked !== undefined,
})`;
/** The focused element, with its target or type. */
const FOCUS = `(() => {
  const at = document.activeElement;
  const about = at.getAttribute("href") ?? at.getAttribute("type") ?? "";
  return at.localName + " " + about.split("/").slice(0, 2).join("/");
})()`;
/** The visible flares. */
const PAINTED =
  '[...document.querySelectorAll(".flares th a")].filter((link) => link.checkVisibility({ contentVisibilityAuto: true })).length';

describe.skipIf(findChromium() === undefined)("the dashboard in Chromium", () => {
  /** Opens a page, and records its errors and its requests to other servers. */
  async function open(finish: Finish, url: string, look: Look = {}) {
    const page = await lendPage(finish, look);
    const pageErrors: string[] = [];
    page.on("console", (message) => pageErrors.push(message.text()));
    page.on("pageerror", (error) => pageErrors.push(String(error)));
    page.on("request", (request) => {
      if (new URL(request.url()).host !== new URL(url).host) pageErrors.push(`requested ${request.url()}`);
    });
    await page.goto(url);
    return { page, pageErrors };
  }

  const serve = (source: LedMarket | ToldMarket, more: object = {}): Promise<Gateway> =>
    startGateway(createConfig({ port: 0, drain: "0", logLevel: "silent", ...more }), { source });
  const says = (page: Page, text: string) => page.getByText(text, { exact: false }).first().waitFor();
  const isLive = (page: Page) => page.locator(".status.good #status-word", { hasText: "online" }).waitFor();

  test("a flare is shown with its reasons and its latest surge, here and on its token's page, and moves to those that just ended", async ({
    onTestFinished,
  }) => {
    const market = new LedMarket();
    const gateway = await serve(market);
    onTestFinished(() => gateway.stop());
    const { page, pageErrors } = await open(onTestFinished, gateway.url);
    await says(page, "Nothing is flaring on BSC");
    market.start("ONE");
    const row = page.locator(".flares tbody tr");
    await row.first().waitFor();
    expect(await row.count()).toBe(1);
    expect(await row.locator("th a").textContent()).toBe("ONE");
    expect(await row.locator(".why-chips").getAttribute("title")).toBe(SAMPLE_EXPLANATION.text);
    expect(await row.locator(".surged").count()).toBe(0);
    // The server's log has the price at its start, without any candle.
    await row.locator(".since", { hasText: "±0 %" }).waitFor();
    market.surge("ONE");
    market.surge("ONE");
    const surged = /^Surged again 2 times, last at 08:00, price 0\.00001234\. \S/;
    await expect.poll(() => row.locator(".surged").getAttribute("title")).toBe("Surged 2 times");
    // On a phone, too.
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await row.locator(".age").innerText()).toMatch(/^surged \S/);
    // A click anywhere in the row opens the token's page.
    await row.locator(".since").click();
    await expect.poll(() => page.locator(".token-page .why-text").textContent()).toMatch(surged);
    await page.goBack();
    market.finish("ONE");
    await says(page, "Nothing is flaring on BSC");
    await page.locator(".just-ended th a", { hasText: "ONE" }).waitFor();
    expect(pageErrors).toEqual([]);
  });

  test("[L2] it shows every change that a bot receives, once, also after it was offline, and reports the gap after a restart", async ({
    onTestFinished,
  }) => {
    const market = new LedMarket();
    const port = await freePort();
    let gateway = await serve(market, { port });
    // Only a context can be offline.
    const page = await ownPage(onTestFinished);
    await page.goto(`${gateway.url}/#/feed?updates=true`);
    await isLive(page);
    const bot = new IndependentClient(gateway.url);
    await bot.connect();
    const shown = () =>
      page.evaluate('[...document.querySelectorAll(".events time")].map((item) => Number(item.dataset.seq))');
    const botSeqs = () => bot.received.events.map(({ seq }) => seq).toReversed();
    market.start("ONE");
    await says(page, "ONE");
    await page.context().setOffline(true);
    await says(page, "Your browser is offline.");
    market.start("TWO");
    await bot.until(() => bot.received.events.length === 2);
    await page.context().setOffline(false);
    await says(page, "TWO");
    market.finish("ONE");
    await bot.until(() => bot.received.events.length === 4);
    // The last event, of the list of finished flares, reports the end again.
    const [, ...changes] = botSeqs();
    await expect.poll(shown).toEqual(changes);
    await gateway.stop();
    await page.locator(".status.wait").waitFor();
    market.start("THREE");
    gateway = await serve(market, { port });
    onTestFinished(() => gateway.stop());
    await isLive(page);
    // The log was in memory only and started over, so the page reports a gap.
    await page.locator(".status summary").click();
    await says(page, "epoch-changed");
    market.start("FOUR");
    await says(page, "FOUR");
  });

  test("hostile texts in every field stay text: nothing runs, nothing breaks out, no other server is contacted", async ({
    onTestFinished,
  }) => {
    const gateway = await serve(new ToldMarket(HOSTILE));
    onTestFinished(() => gateway.stop());
    const { page, pageErrors } = await open(onTestFinished, gateway.url);
    await isLive(page);
    for (const name of PAGES) {
      await page.goto(`${gateway.url}/#/${name}`);
      await page.evaluate(TWO_FRAMES);
      await page.locator("main h2:not(.rendered h2)").first().waitFor();
      for (const width of [1_200, 360]) {
        await page.setViewportSize({ width, height: 800 });
        const found = await page.evaluate(LOOK);
        expect(found, `${name} at ${width}`).toEqual({
          strange: 0,
          links: [],
          wide: 0,
          bidi: false,
          ran: false,
        });
      }
    }
    expect(pageErrors).toEqual([]);
  });

  test("axe finds no problem on any page, each in a light or dark theme", async ({ onTestFinished }) => {
    const { page, goto } = await openDashboard(onTestFinished, new ToldMarket(SAMPLE_SNAPSHOT));
    const looks: readonly (readonly [Look, (readonly string[])?])[] = [
      [{ colorScheme: "light" }],
      [{ colorScheme: "dark" }, COLOR_RULES],
      [{ viewport: { width: 360, height: 740 } }],
    ];
    for (const [look, rules] of IS_SOAK ? looks : looks.slice(0, 2)) {
      await setLook(page, look);
      for (const [at, name] of PAGES.entries()) {
        // Check each page in one theme, and similar neighbors in different ones.
        if (!IS_SOAK && (at % 3 === 1) !== (rules !== undefined)) continue;
        await goto(name);
        await isLive(page);
        expect(await findViolations(page, rules), `${name} ${JSON.stringify(look)}`).toEqual([]);
      }
    }
  });

  test("many flares are shown, searched and sorted", async ({ onTestFinished }) => {
    const count = IS_SOAK ? 1_000 : 150;
    const pro = Array.from({ length: count }, (_, at) => ({
      ...SAMPLE_FLARE,
      id: `flare-${at}`,
      recent_price_change: at,
      token: { ...SAMPLE_FLARE.token, symbol: `T${at}`, address: `0x${String(at).padStart(40, "0")}` },
    }));
    const gateway = await serve(
      new ToldMarket({ ...EMPTY_SNAPSHOT, flares: { ...EMPTY_SNAPSHOT.flares, pro } }),
    );
    onTestFinished(() => gateway.stop());
    const { page, pageErrors } = await open(onTestFinished, gateway.url);
    const rows = page.locator(".flares tbody tr");
    await rows.nth(count - 1).waitFor();
    expect(await rows.count()).toBe(count);
    // Rows out of view are not painted, which keeps updates cheap.
    expect(await page.evaluate(PAINTED)).toBeLessThan(100);
    await page.getByRole("button", { name: "5 min", exact: true }).click();
    await rows
      .first()
      .locator("th a", { hasText: `T${count - 1}` })
      .waitFor();
    await page.getByRole("button", { name: "+ Filter" }).click();
    await page.getByRole("searchbox", { name: "Symbol, name or address" }).fill("T13");
    await rows.nth(11).waitFor({ state: "detached" });
    expect(await rows.count()).toBe(11);
    expect(pageErrors).toEqual([]);
  });

  test("every kind of control is reachable by keyboard", async ({ onTestFinished }) => {
    const gateway = await serve(new ToldMarket(SAMPLE_SNAPSHOT));
    onTestFinished(() => gateway.stop());
    const { page } = await open(onTestFinished, gateway.url);
    await isLive(page);
    await page.locator(".flares th a").first().waitFor();
    await page.getByRole("button", { name: "+ Filter" }).click();
    await page.evaluate("document.activeElement.blur()");
    const reached = new Set<string>();
    for (let step = 0; step < 45; step++) {
      await page.keyboard.press("Tab");
      reached.add(String(await page.evaluate(FOCUS)));
    }
    expect([...reached]).toEqual(
      expect.arrayContaining([
        "a #content",
        "a #/markets",
        "summary ",
        "input radio",
        "input search",
        "select ",
        "button button",
        "a #/token",
      ]),
    );
  });
});
