import { existsSync } from "node:fs";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Flare, Snapshot } from "../../src/base/model/index.ts";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { withLocalPush } from "../support/servers/local-push.ts";
import { PushService } from "../support/servers/push-service.ts";
import { findInstalled } from "../support/setup/debian-package.ts";
import {
  SAMPLE_EXCHANGE_FLARE,
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_SNAPSHOT,
} from "../support/world/samples.ts";
import { COLOR_RULES, findViolations } from "./axe.ts";
import { launch } from "./chromium.ts";
import { makeKeys } from "./open-dashboard.ts";
import { lendPage } from "./shared-page.ts";
import { ToldMarket } from "./told-market.ts";

/** The full browser, because the headless shell has no notifications. */
const CHROMIUM = "/usr/bin/chromium";
const hasChromium = findInstalled(() => existsSync(CHROMIUM), "chromium");

const flareOf = (symbol: string, at: number): Flare => ({
  ...SAMPLE_FLARE,
  id: `3b241101-e2bb-5255-8caf-00000000000${at}`,
  token: { ...SAMPLE_FLARE.token, symbol, address: `0x${String(at).padStart(40, "0")}` },
});
const marketOf = (...pro: Flare[]): Snapshot => ({
  ...SAMPLE_SNAPSHOT,
  "flares.exchange": { pro: [], free: [], finished_trending: [] },
  flares: { pro, free: [], finished_trending: [] },
  explanations: Object.fromEntries(pro.map(({ id }) => [id, SAMPLE_EXPLANATION])),
});
const CAKE = flareOf("CAKE", 1);
/** Another flare of the same token. */
const CAKE_AGAIN = { ...CAKE, id: `${CAKE.id.slice(0, -1)}2` };
const MOON = flareOf("MOON", 3);

/** Counts permission requests, notifications and tones, and lets a test hide the page. */
const SPY = `
  globalThis.spied = { asked: 0, shown: [], tones: 0 };
  const ask = Notification.requestPermission.bind(Notification);
  Notification.requestPermission = () => { spied.asked += 1; return ask(); };
  const show = ServiceWorkerRegistration.prototype.showNotification;
  ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
    await show.call(this, title, options);
    spied.shown.push(title);
  };
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (at) { spied.tones += 1; return start.call(this, at); };
  const request = requestAnimationFrame;
  const waiting = [];
  window.requestAnimationFrame = (frame) => document.hidden ? waiting.push(frame) : request(frame);
  globalThis.hide = (value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    if (!value) for (const frame of waiting.splice(0)) request(frame);
    document.dispatchEvent(new Event("visibilitychange"));
  };`;

interface Spied {
  readonly asked: number;
  readonly shown: readonly string[];
  readonly tones: number;
}
const spied = (page: Page) => page.evaluate<Spied>("spied");
/**
 * Call this only after the pages have shown their notifications: Chromium loses a notification that
 * is queried before the system has it.
 */
const shownBySystem = (page: Page) =>
  page.evaluate<readonly (readonly [string, string, unknown])[]>(
    `navigator.serviceWorker.ready.then((one) => one.getNotifications()).then((all) => all.map(({ title, tag, data }) => [title, tag, data]))`,
  );

describe.skipIf(!hasChromium)("alerts of the page in Chromium", () => {
  let browser: Browser;
  let gateway: Gateway;
  let source: ToldMarket;
  const failures: string[] = [];
  beforeAll(async () => {
    browser = await launch(CHROMIUM, ["--headless=new"]);
    source = new ToldMarket(marketOf(CAKE));
    const config = createConfig({ port: 0, drain: "0", logLevel: "silent", basePath: "/below" });
    gateway = await startGateway(config, { source });
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  const open = async (context: BrowserContext) => show(await context.newPage());

  async function show(page: Page, hash = "#/now"): Promise<Page> {
    page.on("console", (message) => failures.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", ({ message }) => failures.push(message));
    await page.goto(`${gateway.url}/below/${hash}`);
    await page.locator(".flares tbody tr").first().waitFor();
    return page;
  }

  test("a flare of a token with an alert causes one notification and sound for two tabs, and a count in both titles", async ({
    onTestFinished: finish,
  }) => {
    const context = await browser.newContext();
    finish(() => context.close());
    finish(() => source.show(marketOf(CAKE)));
    await context.addInitScript(SPY);
    const page = await open(context);
    await page.locator(".flares th a", { hasText: "CAKE" }).click();
    await page.getByRole("button", { name: "Alert me about CAKE" }).click();
    const panel = page.getByRole("dialog", { name: "Alerts" });
    await panel.getByRole("button", { name: "Remove CAKE" }).waitFor();
    await page.keyboard.press("Escape");
    await page.goBack();
    expect((await spied(page)).asked).toBe(0);
    // Tests cannot click the browser's permission prompt, so grant the permission before.
    await context.grantPermissions(["notifications"]);
    await page.reload();
    await page.getByRole("button", { name: "Alerts, 1 set" }).click();
    await panel.getByLabel("Notification").check();
    await panel.getByLabel("Sound").check();
    await expect.poll(async () => (await spied(page)).tones).toBe(2);
    // The choice is stored once the browser has answered. Storage passes it to the other tab.
    const isStored = (one: Page) => one.evaluate(`JSON.parse(localStorage["flarewire-alerts"]).isNotified`);
    await expect.poll(() => isStored(page)).toBe(true);
    const second = await open(context);
    await expect.poll(() => isStored(second)).toBe(true);
    await second.locator("h2").first().click();
    for (const one of [page, second]) await one.evaluate("hide(true)");
    source.show(marketOf(MOON, CAKE_AGAIN));
    for (const one of [page, second]) await expect.poll(() => one.title()).toBe("(1) Flarewire");
    const shown = async () => [...(await spied(page)).shown, ...(await spied(second)).shown];
    await expect.poll(shown).toEqual(["CAKE is flaring"]);
    expect(await shownBySystem(page)).toEqual([
      ["CAKE is flaring", `start ${CAKE_AGAIN.id}`, { path: `#/token/bsc/${CAKE.token.address}` }],
    ]);
    // Wait until both tabs have tried: lock requests are answered before this later query.
    for (const one of [page, second]) await one.evaluate("navigator.locks.query()");
    const [first, other] = [await spied(page), await spied(second)];
    expect([...first.shown, ...other.shown]).toEqual(["CAKE is flaring"]);
    expect(first.tones + other.tones).toBe(4);
    await page.evaluate("hide(false)");
    expect(await page.title()).toBe("Flarewire");
    await page.evaluate(`location.hash = "#/charts"`);
    await second.close();
    await clickNotification(context);
    await expect.poll(() => page.url()).toBe(`${gateway.url}/below/#/token/bsc/${CAKE.token.address}`);
    await expect.poll(() => shownBySystem(page)).toEqual([]);
    expect(failures).toEqual([]);
  });

  test.runIf(IS_SOAK)(
    "[W44] a flare of a group with an alert causes a notification on a page that shows another group",
    async ({ onTestFinished: finish }) => {
      const context = await browser.newContext({ permissions: ["notifications"] });
      finish(() => context.close());
      finish(() => source.show(marketOf(CAKE)));
      const alerts = { entries: [{ query: "group=exchange" }], isNotified: true };
      await context.addInitScript(SPY);
      await context.addInitScript(`localStorage["flarewire-alerts"] = '${JSON.stringify(alerts)}'`);
      const page = await context.newPage();
      const followed = page.waitForEvent("websocket", (socket) => socket.url().includes("flares.exchange"));
      await page.goto(`${gateway.url}/below/#/now`);
      await (await followed).waitForEvent("framereceived", ({ payload }) =>
        `${payload}`.includes("snapshot"),
      );
      const market = marketOf(CAKE);
      source.show({
        ...market,
        explanations: { ...market.explanations, [SAMPLE_EXCHANGE_FLARE.id]: SAMPLE_EXPLANATION },
        "flares.exchange": { pro: [SAMPLE_EXCHANGE_FLARE], free: [], finished_trending: [] },
      });
      await expect.poll(async () => (await spied(page)).shown).toHaveLength(1);
      expect(await shownBySystem(page)).toEqual([
        [
          "BTC/USDT on binance is flaring",
          `start ${SAMPLE_EXCHANGE_FLARE.id}`,
          { path: "#/token/exchange/BTC" },
        ],
      ]);
    },
  );

  test("one panel adds and removes alerts for a view and the watch list by keyboard, and shows their webhook rule", async ({
    onTestFinished: finish,
  }) => {
    const page = await lendPage(finish, { viewport: { width: 320, height: 700 } });
    await show(page, "#/now?min_liquidity=50000&order=change");
    await page.getByRole("button", { name: "Watch CAKE" }).click();
    await page.getByRole("button", { name: "Alerts", exact: true }).press("Enter");
    const panel = page.getByRole("dialog", { name: "Alerts" });
    const counted = panel.getByText("only counted in this tab's title");
    await counted.waitFor();
    await panel.getByRole("button", { name: "Add view" }).press("Enter");
    await panel.getByRole("button", { name: "Add watch list" }).press("Enter");
    await panel.getByLabel("Sound").check();
    await counted.waitFor({ state: "detached" });
    await panel.getByText("Webhook rule").last().press("Enter");
    const rule = JSON.parse((await panel.locator("pre").last().textContent()) ?? "");
    expect(rule).toMatchObject({ channels: ["flares.pro"], filter: { min_liquidity: 50_000 } });
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await panel.evaluate((dialog) => dialog.scrollWidth <= dialog.clientWidth)).toBe(true);
    expect(await findViolations(page, undefined, "dialog")).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await findViolations(page, COLOR_RULES, "dialog")).toEqual([]);
    await page.reload();
    await page.getByRole("button", { name: "Alerts, 2 set" }).click();
    for (const left of [1, 0]) {
      await panel.getByRole("button", { name: "Remove" }).first().press("Enter");
      await panel.getByRole("heading", { name: `Your alerts ${left}` }).waitFor();
    }
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Alerts", exact: true }).press("Enter");
    await panel.waitFor();
    await page.evaluate("location.hash = '#/feed'");
    await panel.waitFor({ state: "detached" });
    expect(failures).toEqual([]);
  });

  test.runIf(IS_SOAK)(
    "the page can be installed below a base path, and its worker caches nothing",
    async ({ onTestFinished: finish }) => {
      const context = await browser.newContext();
      finish(() => context.close());
      const page = await open(context);
      const cdp = await context.newCDPSession(page);
      const { url, errors, data } = await cdp.send("Page.getAppManifest");
      expect([url, errors]).toEqual([`${gateway.url}/below/manifest.webmanifest`, []]);
      const { icons } = JSON.parse(data ?? "{}");
      for (const { src, sizes } of icons) {
        const size = await page.evaluate(
          `new Promise((resolve) => { const image = new Image(); image.onload = () => resolve(image.width + "x" + image.height); image.src = ${JSON.stringify(src)}; })`,
        );
        expect(size).toBe(sizes);
      }
      const { installabilityErrors } = await cdp.send("Page.getInstallabilityErrors");
      expect(installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito")).toEqual([]);
      await page.evaluate(`navigator.serviceWorker.register("./worker.js")`);
      const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
      expect(worker.url()).toBe(`${gateway.url}/below/worker.js`);
      expect(await worker.evaluate("caches.keys()")).toEqual([]);
      expect(failures).toEqual([]);
    },
  );

  test("[K1] with a key a flare is sent by web push and shown by the system, and a click opens its token", async ({
    onTestFinished: finish,
  }) => {
    await using service = new PushService();
    await service.up();
    // A server with keys pushes what the plan free shows.
    const freeOf = (...free: Flare[]) => {
      const market = marketOf(...free);
      return { ...market, flares: { ...market.flares, free } };
    };
    const market = new ToldMarket(freeOf(CAKE));
    const { keys, key } = makeKeys(finish);
    const config = createConfig({
      ...{ port: 0, drain: "0", logLevel: "silent", data: "none", keys, anonymous: "off" },
      push: "mailto:ops@example.org",
    });
    const pushing = await startGateway(config, {
      source: market,
      extensions: withLocalPush(),
    });
    finish(() => pushing.stop());
    const context = await browser.newContext();
    finish(() => context.close());
    const errors: string[] = [];
    // Only the subscription is replaced: a browser without a push service account cannot subscribe.
    await context.addInitScript(pushManager(await service.subscription()));
    await context.addInitScript(`sessionStorage.setItem("flarewire-key", "${key}")`);
    const page = await context.newPage();
    page.on("console", (message) => errors.push(message.text()));
    await page.goto(`${pushing.url}/#/now`);
    await page.getByRole("button", { name: "Alert me", exact: true }).click();
    const panel = page.getByRole("dialog", { name: "Alerts" });
    await panel.getByRole("button", { name: "Add view" }).click();
    await panel.getByLabel("Push").waitFor();
    expect(await page.evaluate("pushed.subscribed")).toBe(0);
    await context.grantPermissions(["notifications"]);
    const accepted = page.waitForResponse((response) => response.request().method() === "PUT");
    await panel.getByLabel("Push").check();
    expect((await accepted).status()).toBe(204);
    // Other pages read this choice.
    await expect
      .poll(() => page.evaluate(`JSON.parse(localStorage["flarewire-alerts"]).isPushed`))
      .toBe(true);
    expect(await page.evaluate("pushed.key.length")).toBe(87);
    expect(await findViolations(page, undefined, "dialog")).toEqual([]);
    await panel.getByRole("button", { name: "Close" }).click();
    const subscription = await service.subscription();
    const lost = { method: "DELETE", headers: { "content-type": "application/json" } };
    await fetch(`${pushing.url}/push`, {
      ...lost,
      body: JSON.stringify({ endpoint: subscription.endpoint }),
    });
    // A page that is opened renews a subscription that the server no longer has.
    const other = await context.newPage();
    await other.addInitScript(
      `const made = ${JSON.stringify(subscription)};
      PushManager.prototype.getSubscription = async () => ({ ...made, toJSON: () => made });`,
    );
    const renewed = other.waitForResponse((response) => response.request().method() === "PUT");
    await other.goto(`${pushing.url}/#/now`);
    expect((await renewed).status()).toBe(204);
    await other.close();
    market.show(freeOf(MOON, CAKE));
    await service.until(() => service.received.length > 0);
    const cdp = await context.newCDPSession(page);
    const registered = new Promise<string>((resolve) =>
      cdp.on(
        "ServiceWorker.workerRegistrationUpdated",
        ({ registrations: [one] }) => one && resolve(one.registrationId),
      ),
    );
    await cdp.send("ServiceWorker.enable");
    const origin = pushing.url;
    const data = JSON.stringify(service.received[0]?.payload);
    const message = { origin, registrationId: await registered, data };
    const shown = ["MOON is flaring", `start ${MOON.id}`, { path: `#/token/bsc/${MOON.token.address}` }];
    // Repeat, because the browser drops messages for a starting worker. The tag merges repeats.
    const deliver = async () => {
      await cdp.send("ServiceWorker.deliverPushMessage", message);
      return shownBySystem(page);
    };
    await expect.poll(deliver).toEqual([shown]);
    await clickNotification(context);
    await expect.poll(() => page.url()).toBe(`${origin}/#/token/bsc/${MOON.token.address}`);
    // The change of the address closes a panel that is opened before the page shows the token.
    await page.locator(".token-page h2", { hasText: "MOON" }).waitFor();
    await page.getByRole("button", { name: "Alerts, 1 set" }).click();
    expect(await panel.getByLabel("Push").isChecked()).toBe(true);
    const ended = page.waitForResponse((response) => response.request().method() === "DELETE");
    await panel.getByLabel("Push").uncheck();
    expect((await ended).status()).toBe(204);
    expect(await page.evaluate("pushed.unsubscribed")).toBe(1);
    expect(errors).toEqual([]);
    // The browser's subscription also ends if the server does not respond.
    await page.route("**/push", (route) =>
      route.request().method() === "DELETE" ? route.abort() : route.continue(),
    );
    const startedAgain = page.waitForResponse((response) => response.request().method() === "PUT");
    await panel.getByLabel("Push").check();
    expect((await startedAgain).status()).toBe(204);
    await panel.getByRole("button", { name: "Close" }).click();
    // With push, a token's alert needs nothing else, so its bell opens no panel.
    const bell = page.getByRole("button", { name: "Alert me about MOON" });
    await bell.click();
    await expect.poll(() => bell.getAttribute("aria-pressed")).toBe("true");
    expect(await panel.count()).toBe(0);
    await page.getByRole("button", { name: "Alerts, 2 set" }).click();
    await panel.getByLabel("Push").uncheck();
    await expect.poll(() => page.evaluate("pushed.unsubscribed")).toBe(2);
    // It ends, too, if the server does not confirm it: the server may have stored it.
    await page.route("**/push", (route) =>
      route.request().method() === "GET" ? route.continue() : route.abort(),
    );
    await panel.getByLabel("Push").click();
    await panel.getByText("Nothing is pushed.").waitFor();
    expect(await page.evaluate("pushed.unsubscribed")).toBe(3);
  });
});

/** Replaces the push manager: its subscriptions have the keys and the endpoint of a stand-in. */
const pushManager = (subscription: object) => `
  globalThis.pushed = { subscribed: 0, unsubscribed: 0, key: "" };
  let current = null;
  const made = {
    endpoint: ${JSON.stringify(Object(subscription).endpoint)},
    toJSON: () => (${JSON.stringify(subscription)}),
    unsubscribe: async () => { pushed.unsubscribed += 1; current = null; return true; },
  };
  PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
    if (!userVisibleOnly) throw new Error("must be visible");
    pushed.subscribed += 1;
    pushed.key = applicationServerKey;
    current = made;
    return current;
  };
  PushManager.prototype.getSubscription = async () => current;`;

/** Sends the click event to the worker, because tests cannot click the system's notification. */
async function clickNotification(context: BrowserContext): Promise<void> {
  const [worker] = context.serviceWorkers();
  await worker?.evaluate(
    `registration.getNotifications().then(([notification]) => dispatchEvent(new NotificationEvent("notificationclick", { notification })))`,
  );
}
