import { describe, expect, test } from "vitest";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/base/model/index.ts";
import { mintSecret } from "../../src/gateway/keys/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../support/world/samples.ts";
import { findViolations } from "./axe.ts";
import { findChromium } from "./chromium.ts";
import { enterKey, HOLD_ANNOUNCER, hear, makeKeys, openDashboard, storeMinutes } from "./open-dashboard.ts";
import { ToldMarket } from "./told-market.ts";

const KEPT = "JSON.stringify(sessionStorage)";

const named = (symbol: string, at: number) => ({
  ...SAMPLE_FLARE,
  id: `3b241101-e2bb-5255-8caf-00000000000${at}`,
  token: { ...SAMPLE_FLARE.token, symbol },
});
const free = [named("FREE", 1)];
const PLANS: Snapshot = {
  ...EMPTY_SNAPSHOT,
  flares: { ...EMPTY_SNAPSHOT.flares, free, pro: [named("PRO", 2), ...free] },
};

describe.skipIf(findChromium() === undefined)("the state of the dashboard in Chromium", () => {
  test("[K1] [K3] without a key the page shows the free plan; an entered key appears in no URL, and is stored only on request", async ({
    onTestFinished: finish,
  }) => {
    const { keys, key } = makeKeys(finish);
    const { page, goto } = await openDashboard(finish, new ToldMarket(PLANS), { settings: { keys } });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("websocket", (socket) => asked.push(socket.url()));
    const says = (text: string) => page.getByText(text).first().waitFor();
    const symbols = () => page.locator(".flares tbody th a").allTextContents();
    await goto("flares");
    await says("Without a key, you are on the free plan: flares appear after five minutes.");
    expect(await symbols()).toEqual(["FREE"]);
    await page.getByRole("button", { name: "Enter a key" }).click();
    // `npm test` checks only the form for a required key.
    if (IS_SOAK) expect(await findViolations(page, undefined, ".plan")).toEqual([]);
    await enterKey(page, key);
    await says("Your key gives you the pro plan: full access.");
    await expect.poll(symbols).toEqual(["PRO", "FREE"]);
    expect(await page.evaluate(KEPT)).toBe("{}");
    await page.reload();
    await says("Without a key");
    await page.getByRole("button", { name: "Enter a key" }).click();
    await enterKey(page, key, true);
    await says("Your key gives you the pro plan");
    await page.reload();
    await says("Your key gives you the pro plan");
    await page.getByRole("button", { name: "Forget the key" }).click();
    await says("Without a key");
    expect(await page.evaluate(KEPT)).toBe("{}");
    expect(asked.filter((url) => url.includes(key.slice(12)))).toEqual([]);
  });

  test("[K2] without a key, the code for a bot and alerts name the channel of the list that is shown, and send a key if there is one", async ({
    onTestFinished: finish,
  }) => {
    const { keys, key } = makeKeys(finish);
    const { page, goto } = await openDashboard(finish, new ToldMarket(PLANS), { settings: { keys } });
    const bot = page.getByRole("dialog", { name: "Use in a bot" });
    const alerts = page.getByRole("dialog", { name: "Alerts" });
    const looks = async (sentence: string, channel: string) => {
      await page.getByRole("button", { name: "Use in a bot" }).click();
      await bot.getByText(`${sentence}, its surges and its end.`).waitFor();
      for (const kind of ["curl", "TypeScript", "Python", "Telegram"]) {
        await bot.getByRole("radio", { name: kind }).check();
        const text = await bot.locator("pre").innerText();
        expect(text).toMatch(new RegExp(`channels\\W+${channel}\\W`));
        expect(text).toContain("FLAREWIRE_CLIENT_KEY");
        expect(text).not.toContain(key);
      }
      await bot.getByText("FLAREWIRE_CLIENT_KEY, if it is set.").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^Alert me(, 1 set)?$/ }).click();
      await alerts.getByText(`This view ${sentence}.`).waitFor();
      const rule = JSON.parse((await alerts.locator("pre").textContent()) ?? "");
      expect(rule.channels).toEqual([channel]);
      await page.keyboard.press("Escape");
    };
    await goto("flares");
    await page.locator(".flares th a", { hasText: "FREE" }).click();
    await page.getByRole("button", { name: "Alert me about FREE" }).click();
    await alerts.waitFor();
    await page.keyboard.press("Escape");
    await page.goBack();
    const free = "Every flare that is at least 5 minutes old and has no warning";
    await looks(free, "flares.free");
    await page.getByRole("button", { name: "Enter a key" }).click();
    await enterKey(page, key);
    await page.getByText("Your key gives you the pro plan: full access.").waitFor();
    await looks("Every flare as soon as it starts", "flares.pro");
  });

  test("an address that changes before the first frame is followed", async ({ onTestFinished: finish }) => {
    const change = `new MutationObserver((_, observer) => {
      if (!document.querySelector("#app h1")) return;
      observer.disconnect();
      location.hash = "#/developers";
    }).observe(document, { childList: true, subtree: true })`;
    const { page, goto } = await openDashboard(finish, new ToldMarket(PLANS), {
      look: { scripts: [change] },
    });
    await goto("now");
    await page.locator("nav a[aria-current]", { hasText: "Developers" }).waitFor();
  });

  test("[K1] if a key is required, the page says so and accepts one; an unknown key can be discarded", async ({
    onTestFinished: finish,
  }) => {
    const { keys, key } = makeKeys(finish);
    const { page, goto } = await openDashboard(finish, new ToldMarket(PLANS), {
      settings: { keys, anonymous: "off" },
    });
    await goto("flares");
    const asks = page.getByRole("heading", { name: "This server is for people with a key" });
    await asks.waitFor();
    // The alert says in plain words whom to ask. The server's response is for its operator.
    const text = (await page.getByRole("alert").textContent()) ?? "";
    expect(text).toContain(`Keys come from whoever runs ${new URL(page.url()).host}.`);
    expect(text).not.toMatch(/HTTP|\b401\b|Bearer/);
    expect(await page.locator("#status-word").textContent()).toBe("key needed");
    await page.getByText("You run this server?").click();
    expect(await page.locator(".refused q").innerText()).toContain("401");
    expect(await findViolations(page)).toEqual([]);
    await enterKey(page, mintSecret("fw").text, true);
    await page.getByRole("heading", { name: "This key does not work" }).waitFor();
    // No form shows before the server has answered: its next state would delete what was typed.
    const answered = Promise.withResolvers<void>();
    await page.route("**/api/v1/**", async (route) => {
      await answered.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Continue without a key" }).click();
    expect(await page.locator(".refused").count()).toBe(0);
    answered.resolve();
    await asks.waitFor();
    expect(await page.evaluate(KEPT)).toBe("{}");
    await enterKey(page, key);
    await page.locator(".flares tbody th a", { hasText: "PRO" }).waitFor();
  });

  test("without a connection the page shows the age of its data, and announces the outage after a delay", async ({
    onTestFinished: finish,
  }) => {
    const { gateway, page, goto } = await openDashboard(finish, new ToldMarket(SAMPLE_SNAPSHOT), { own: {} });
    await page.clock.install();
    await page.addInitScript(HOLD_ANNOUNCER);
    await goto("flares");
    const reported = page.locator(".unseen [role=status]");
    await page.locator(".status.good").waitFor();
    expect([await reported.textContent(), await page.locator(".outage").count()]).toEqual(["", 0]);
    await gateway.stop();
    await page.locator(".status.wait").waitFor();
    expect(await reported.textContent()).toBe("");
    await page.clock.runFor(10_000);
    await page
      .locator(".outage", {
        hasText: /Not connected for ([1-9]\d|\d+m \d\d)s\. You see the market as of [\d:]{5} UTC\./,
      })
      .waitFor();
    await expect.poll(() => hear(page, ".unseen [role=status]")).toBe("Connection: reconnecting");
    expect(await page.locator("main.old .flares tbody tr").count()).toBe(SAMPLE_SNAPSHOT.flares.pro.length);
  });

  test("the page reports that the server cannot reach its market, with the reason", async ({
    onTestFinished: finish,
  }) => {
    class DownMarket extends ToldMarket {
      override freshness() {
        const { last_success_at, observed_at } = super.freshness();
        return {
          state: "down",
          reason: "no answer",
          observed_at,
          last_success_at,
          data_age_ms: 90_000,
        } as never;
      }
    }
    const { page, goto } = await openDashboard(finish, new DownMarket(SAMPLE_SNAPSHOT));
    await goto("flares");
    await page.locator(".outage", { hasText: "The server cannot reach its market." }).waitFor();
    expect(await page.locator(".outage").textContent()).toContain("no answer");
    await page.locator(".status.bad .origin", { hasText: "simulated" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  test("ages advance for 15 seconds without a message from the server", async ({
    onTestFinished: finish,
  }) => {
    const observedMs = Date.now();
    const observed_at = new Date(observedMs).toISOString();
    class StillMarket extends ToldMarket {
      override freshness(): ReturnType<ToldMarket["freshness"]> {
        return { ...super.freshness(), observed_at };
      }
    }
    const [listing] = SAMPLE_SNAPSHOT.newest.bsc;
    if (!listing) throw new Error("no sample");
    const bsc = [50_000, 100_000].map((agoMs, at) => ({
      ...listing,
      id: `3b241101-e2bb-5255-8caf-00000000000${at}`,
      listed_at: new Date(observedMs - agoMs).toISOString(),
    }));
    const source = new StillMarket({ ...SAMPLE_SNAPSHOT, newest: { bsc } });
    const { page, goto } = await openDashboard(finish, source, { settings: { heartbeat: "1m" }, own: {} });
    await page.clock.install();
    await goto("markets?board=new");
    await page.clock.runFor(30_000);
    await expect.poll(() => page.locator("td.since").allTextContents()).toEqual(["1 min ago", "1 min ago"]);
  });

  test("each empty page says why it is empty", async ({ onTestFinished: finish }) => {
    const empty = await openDashboard(finish, new ToldMarket(EMPTY_SNAPSHOT));
    const said: Readonly<Record<string, string>> = {
      now: "Nothing is flaring on BSC",
      "now?channels=flares.free": "New flares appear here",
      finished: "No flare finished within the last 24 hours.",
      "markets?board=new": "No token was listed within the last 15 minutes.",
      markets: "The chart is empty.",
      "markets?board=longest": "No token was in the chart within the past six hours.",
      feed: "No flare or new token on BSC is known",
      "feed?updates=true": "None since this page was opened.",
      "token/0x12": "This token is in no list now",
    };
    for (const [name, text] of Object.entries(said)) {
      await empty.goto(name);
      await empty.page.getByText(text).first().waitFor();
    }
  });

  test("a group without tokens names one that has some", async ({ onTestFinished: finish }) => {
    const { exchange } = SAMPLE_SNAPSHOT.charts;
    const charts = { ...EMPTY_SNAPSHOT.charts, exchange };
    const { page, goto } = await openDashboard(finish, new ToldMarket({ ...EMPTY_SNAPSHOT, charts }));
    await goto("now");
    await page.getByRole("link", { name: "Exchanges" }).click();
    await page.getByRole("heading", { name: "Nothing is flaring on exchanges" }).waitFor();
    expect(await page.locator("main .empty a").count()).toBe(0);
  });

  test("Back undoes each choice of a filter, order and past minute, but not each key press", async ({
    onTestFinished: finish,
  }) => {
    const { page, goto } = await openDashboard(finish, new ToldMarket(SAMPLE_SNAPSHOT));
    await storeMinutes(page, "2017-11-01T00:00");
    await goto("flares");
    await page.getByRole("button", { name: "+ Filter" }).click();
    const search = page.getByRole("searchbox", { name: "Symbol, name or address" });
    const slider = page.getByRole("slider");
    const press = async (key: string) => {
      for (let times = 0; times < 3; times++) await slider.press(key);
    };
    const choices = [
      () => search.pressSequentially("T1"),
      () => page.getByLabel("Order").selectOption("change"),
      () => page.getByRole("combobox", { name: /^Liquidity/ }).selectOption("10000"),
      () => page.getByRole("button", { name: "Safer" }).click(),
      () => press("ArrowLeft"),
      () => page.getByRole("button", { name: "Back to now" }).click(),
    ];
    const visited: string[] = [];
    for (const choose of choices) {
      await choose();
      visited.push(new URL(page.url()).hash);
    }
    expect(new Set(visited).size).toBe(choices.length - 1);
    for (const hash of visited.slice(0, -1).reverse()) {
      await page.goBack();
      await expect.poll(() => new URL(page.url()).hash).toBe(hash);
    }
    expect(await search.inputValue()).toBe("T1");
    expect(await page.getByLabel("Order").inputValue()).toBe("newest");
  });

  test("details of the state that do not load cover no more than their own words", async ({
    onTestFinished,
  }) => {
    const { page, goto } = await openDashboard(onTestFinished, new ToldMarket(SAMPLE_SNAPSHOT), { own: {} });
    await page.route("**/status-details*.js", (route) => route.abort());
    await goto("now");
    const height = () => page.locator("#app > header").evaluate((header) => header.clientHeight);
    const before = await height();
    await page.locator(".status summary").click();
    const words = page.locator(".status .loading", { hasText: "could not be loaded" });
    await words.waitFor();
    expect(await height()).toBe(before);
    expect((await words.boundingBox())?.height).toBeLessThan(120);
  });

  test("the zone of all times is chosen once, and kept", async ({ onTestFinished }) => {
    const { page, goto } = await openDashboard(onTestFinished, new ToldMarket(SAMPLE_SNAPSHOT), {
      own: { timezoneId: "Atlantic/Cape_Verde" },
    });
    await goto("now");
    await page.locator(".status summary").click();
    const time = page.locator(".status time");
    const shown = async (hours: number, zone: string) => {
      const at = Date.parse((await time.getAttribute("datetime")) ?? "") + hours * 3_600_000;
      return (await time.innerText()) === `${new Date(at).toISOString().slice(11, 16)} ${zone}`;
    };
    await expect.poll(() => shown(0, "UTC")).toBe(true);
    await goto("feed");
    const line = page.locator(".events time").first();
    const before = await line.innerText();
    await page.getByRole("button", { name: "Times are UTC. Show local time" }).click();
    await expect.poll(() => line.innerText()).not.toBe(before);
    await page.reload();
    await page.locator(".status summary").click();
    await expect.poll(() => shown(-1, "local time")).toBe(true);
  });
});
