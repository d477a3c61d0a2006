import { describe, expect, test } from "vitest";
import { GROUP_FACTS, GROUPS } from "../../src/base/model/groups.ts";
import type { Outcome, Snapshot, TrackRecord } from "../../src/base/model/index.ts";
import { summarizeOutcomes } from "../../src/extensions/history/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import type { Finish } from "../support/servers/edges.ts";
import {
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_OUTCOME,
  SAMPLE_SNAPSHOT,
} from "../support/world/samples.ts";
import { findViolations } from "./axe.ts";
import { findChromium, widthsFor } from "./chromium.ts";
import { CUT_NUMBERS } from "./cut-numbers.ts";
import { openDashboard, shareDashboard } from "./open-dashboard.ts";
import type { Look } from "./shared-page.ts";
import { ToldMarket } from "./told-market.ts";

const summarize = (outcomes: readonly Outcome[]) => summarizeOutcomes(outcomes, async () => {});

/** Widths around those at which the header changes. `npm test` has fewer. */
const HEADER_WIDTHS = [360, 390, 720, 721, 768, 941, 1_100, 1_279, 1_280, 1_440];
const OTHER = {
  ...SAMPLE_FLARE,
  id: "other",
  token: { ...SAMPLE_FLARE.token, symbol: "OTHER", address: `0x${"7".repeat(40)}` },
};

/** Returns a track record of this many flares, whose prices all fell. */
async function recordOf(flares: number): Promise<TrackRecord> {
  const outcome = {
    ...SAMPLE_OUTCOME,
    change_15m: -12.34,
    collapse_warning_s: 0,
    control: { change_5m: [0], change_15m: [1], change_60m: [32] },
  };
  const all = await summarize(Array.from({ length: flares }, () => outcome));
  const at = "2017-11-12T09:00:00.000Z";
  return {
    window: flares === 0 ? "24h" : "7d",
    first_at: flares === 0 ? null : at,
    last_at: flares === 0 ? null : at,
    all,
    trades: {
      ...{ text: "Bought at each start and sold at its end, with 0.3 % fee a side: mean −9.0 %" },
      ...{ n: flares, won: 0.4, mean: -9, median: -2.5, worthless: 3, unknown: 0, rugged_60m: 4 },
      control: { n: 40, won: 0.5, mean: 1, median: 1 },
    },
    by_group: [{ group: "bsc", figures: all }],
    by_score: [{ from: 2.5, to: null, figures: all }],
    by_liquidity: [{ from: null, to: 10_000, figures: all }],
  };
}

/** Returns a market with a possible rug in the chart, and a listing with and one without links. */
function shownMarket(): ToldMarket {
  const [item] = SAMPLE_SNAPSHOT.charts.bsc;
  const [listing] = SAMPLE_SNAPSHOT.newest.bsc;
  if (!item || !listing) throw new Error("no sample");
  const chart = [false, false, true].map((canary, at) => ({
    ...item,
    id: `${at}`,
    flare: { ...item.flare, canary },
  }));
  const social_data = { website_url: "https://example.org/", chat_url: null, microblog_url: null };
  return new ToldMarket({
    ...SAMPLE_SNAPSHOT,
    charts: { ...SAMPLE_SNAPSHOT.charts, bsc: chart },
    newest: { bsc: [{ ...listing, id: "linked", social_data }, listing] },
  });
}

describe.skipIf(findChromium() === undefined)("what the pages of the dashboard show in Chromium", () => {
  const shared = shareDashboard(shownMarket);

  test("the strongest tokens of all groups are in one table by their change, and the tokens of one group by their explained places", async () => {
    const { page, goto } = await shared();
    await goto("markets");
    const groups = page.locator(".strongest .tag");
    const labels = new Set(GROUPS.map((group) => GROUP_FACTS[group].label));
    expect(new Set(await groups.allTextContents())).toEqual(labels);
    expect(await page.locator(".strongest .place").count()).toBe(0);
    const texts = await page.locator(".strongest td.since").allTextContents();
    const changes = texts.map((text) => Number.parseFloat(text.replace("−", "-").replace("±", "")));
    expect(changes).toEqual(changes.toSorted((a, b) => b - a));
    await page.getByRole("radio", { name: "Polygon" }).check();
    await expect.poll(async () => new Set(await groups.allTextContents())).toEqual(new Set(["Polygon"]));
    await page.getByText(/against the group's median.* In a falling group, they fell least\./).waitFor();
    const places = await page.locator(".strongest td.place").allTextContents();
    expect(places).toEqual(places.map((_, at) => `${at + 1}`));
    expect(new URL(page.url()).hash).toBe("#/markets?group=matic");
    await page.getByRole("radio", { name: "Longest" }).check();
    expect(new URL(page.url()).hash).toBe("#/markets?board=longest&group=matic");
  });

  test("each row of the strongest shows its curve at every width", async () => {
    const { page, goto } = await shared();
    await goto("markets");
    const look = `[...document.querySelectorAll(".strongest .spark")].map((curve) => curve.clientWidth > 0)`;
    for (const width of [320, 360, 1_180, 1_280, 1_366]) {
      await page.setViewportSize({ width, height: 900 });
      const shown = (await page.evaluate(look)) as readonly boolean[];
      expect(shown.length).toBeGreaterThan(3);
      expect(shown, `${width}`).not.toContain(false);
    }
  });

  test("no paragraph with words and a link breaks into boxes of a flex container", async () => {
    const { page, goto } = await shared();
    const split = `[...document.querySelectorAll("p")].filter((one) => one.querySelector(":scope > a") &&
      [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) &&
      /flex|grid/.test(getComputedStyle(one).display)).map((one) => one.textContent)`;
    for (const [name, words] of [
      ["record", "more often than real ones."],
      ["now", ""],
      ["finished", ""],
    ] as const) {
      await goto(name);
      await page.locator("p", { hasText: words }).first().waitFor();
      expect(await page.evaluate(split), name).toEqual([]);
    }
  });

  test("the choice of every update is on one line, also on the narrowest screen", async () => {
    const { page, goto } = await shared();
    await goto("feed");
    const height = `document.querySelector(".feed-head .segments").clientHeight`;
    for (const width of [320, 360]) {
      await page.setViewportSize({ width, height: 640 });
      expect(await page.evaluate(height), `${width}`).toBeLessThan(50);
      const right = `innerWidth - document.querySelector(".feed-head .segments").getBoundingClientRect().right`;
      expect(await page.evaluate(right), `${width}`).toBeGreaterThanOrEqual(0);
    }
  });

  test("a line of the feed names the token, has the date of an earlier day, and marks a rise that hardly anyone could sell", async () => {
    const { page, goto } = await shared();
    const flare = {
      ...SAMPLE_FLARE,
      id: "yesterday",
      started_trending_at: "2017-11-11T23:50:00.000Z",
      finished_trending_at: "2017-11-12T00:10:00.000Z",
    };
    const why = { ...SAMPLE_EXPLANATION, warnings: ["no-seller"] };
    const record = { flare, started: null, why, cause: "canary", outcome: SAMPLE_OUTCOME };
    await page.route("**/api/v1/history?group=bsc*", (route) =>
      route.fulfill({ json: { flares: [record], next: null } }),
    );
    // The feed asks for the history when it is opened.
    await goto("record");
    await goto("feed");
    const [end, start] = ["possible rug", "started"].map((what) =>
      page.locator(".events tbody tr", { hasText: what }).last(),
    );
    await expect
      .poll(() => end?.innerText())
      .toMatch(
        /^00:10\s+11-12\s+possible rug\s+UNI\s+Uni Token\s+\S+\s%\s+at the end\s+⚠ hardly anyone could sell peak \+14\s%/,
      );
    expect(await start?.locator(".when").innerText()).toBe("23:50\n11-11");
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("a possible rug among the strongest is marked, and each page has its title", async () => {
    const { page, goto } = await shared();
    await goto("markets?group=bsc");
    expect(await page.locator(".strongest .pill").allInnerTexts()).toEqual(["⚠ possible rug"]);
    for (const [name, title] of [
      ["finished", "Finished"],
      ["markets", "Markets"],
      ["developers", "Developers"],
    ] as const) {
      await goto(name);
      // The title distinguishes tabs and entries of the browser's history.
      await expect.poll(() => page.title()).toBe(`${title} – Flarewire`);
    }
    await goto(`token/${SAMPLE_FLARE.token.address}`);
    await expect.poll(() => page.title()).toBe(`${SAMPLE_FLARE.token.symbol} – Flarewire`);
    await goto("now");
    await expect.poll(() => page.title()).toBe("Flarewire");
  });

  test("a search finds tokens of all groups and a pasted address, by keyboard and without a request", async () => {
    const { page, goto } = await shared();
    await goto("record");
    await page.keyboard.press("/");
    const search = page.getByRole("combobox", { name: "Search any token" });
    await search.pressSequentially("q");
    const found = page.locator("search li a");
    await expect.poll(async () => (await found.locator("b").allTextContents())[0]).toBe("QCK");
    expect(await found.first().locator(".tag").textContent()).toBe("Polygon");
    await page.keyboard.press("Enter");
    await page.locator(".token-page h2", { hasText: "QCK" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/token/matic/0x00ff");
    await page.keyboard.press("Control+k");
    await search.fill("nobody");
    await page.getByText("No token in the present lists has this name.").waitFor();
    await search.fill(`0x${"A".repeat(40)}`);
    expect(await found.first().getAttribute("href")).toBe(`/#/token/bsc/0x${"a".repeat(40)}`);
    await search.fill("o");
    const chosen = page.locator("search [aria-selected=true]");
    const first = await chosen.getAttribute("href");
    await page.keyboard.press("ArrowDown");
    expect(await search.getAttribute("aria-activedescendant")).toBe(await chosen.getAttribute("id"));
    const second = await chosen.getAttribute("href");
    expect(second).not.toBe(first);
    await page.keyboard.press("Enter");
    await expect.poll(() => `/${new URL(page.url()).hash}`).toBe(second);
    await page.keyboard.press("Control+k");
    await search.fill("o");
    await page.keyboard.press("Escape");
    expect(await found.count()).toBe(0);
  });

  test("the page of a flaring token says that the reason is the current one", async () => {
    const { page, goto } = await shared();
    await goto(`token/${SAMPLE_FLARE.token.address}`);
    await page.getByText(`Now: ${SAMPLE_EXPLANATION.text}`, { exact: true }).waitFor();
    await page.locator(".score").evaluate((score) => score.setAttribute("open", ""));
    await page.getByText("A term counts as at least 0, and above 5 deviations ever more slowly.").waitFor();
  });

  test("on a phone no name or unit of a flare's terms is broken", async () => {
    const { page, goto } = await shared({ viewport: { width: 320, height: 640 } });
    await goto(`token/${SAMPLE_FLARE.token.address}`);
    await page.locator(".score").evaluate((score) => score.setAttribute("open", ""));
    await page.locator(".terms tbody th").first().waitFor();
    // Each name and each unit is one word, so its text has one box unless it is broken.
    const boxes: readonly (readonly [string, number])[] = await page.evaluate(`
      [...document.querySelectorAll(".terms tbody th, .terms small")].map((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return [element.textContent, range.getClientRects().length];
      })`);
    expect(boxes).not.toEqual([]);
    expect(boxes.filter(([text, lines]) => text !== "" && !/\s/.test(text) && lines !== 1)).toEqual([]);
  });

  test("the widgets page has the header and the links of the dashboard", async () => {
    const { page, gateway, goto } = await shared();
    const look = `["header", "header nav a"].map((name) => {
      const { position, top, minHeight, borderBottomWidth, textDecorationLine } = getComputedStyle(document.querySelector(name));
      return { position, top, minHeight, borderBottomWidth, textDecorationLine };
    })`;
    await goto("now");
    const before = await page.evaluate(look);
    expect(before).toMatchObject([{ position: "sticky" }, {}]);
    const site = expect.arrayContaining(["Docs", "Widgets", "Source"]);
    expect(await page.locator("footer").getByRole("link").allTextContents()).toEqual(site);
    await page.goto(`${gateway.url}/widgets`);
    expect(await page.locator("header").getByRole("link").allTextContents()).toEqual(site);
    expect(await page.evaluate(look)).toEqual(before);
  });

  test("the header is one line of 52 pixels, also while reconnecting, at each width", async () => {
    const { page, goto } = await shared();
    await goto("now");
    for (const width of IS_SOAK ? HEADER_WIDTHS : [320, 390, 721, 1_000, 1_280]) {
      await page.setViewportSize({ width, height: 640 });
      // Sets the text and measures in one step, because the page sets its own each second.
      const lines = `[["5s"], ["59s", "reconnecting"]].map(([age, word]) => {
        document.querySelector(".status .age").textContent = "data " + age + " old";
        if (word) {
          document.querySelector(".status").className = "status";
          document.querySelector("#status-word").textContent = word;
        }
        const { height } = document.querySelector("header").getBoundingClientRect();
        const { right } = document.querySelector("header .alerts-button").getBoundingClientRect();
        return height <= 53 && right <= innerWidth;
      })`;
      expect(await page.evaluate(lines), `at ${width} pixels`).toEqual([true, true]);
    }
  });
});

describe.skipIf(findChromium() === undefined)("a page of the dashboard in Chromium", () => {
  const open = (finish: Finish, snapshot: Snapshot, look: Look = {}) =>
    openDashboard(finish, new ToldMarket(snapshot), { look });

  test("a token's page does not keep another token's flares, and says when flares did not load", async ({
    onTestFinished,
  }) => {
    const pro = [...SAMPLE_SNAPSHOT.flares.pro, OTHER];
    const flares = { ...SAMPLE_SNAPSHOT.flares, pro };
    const { page, goto } = await open(onTestFinished, { ...SAMPLE_SNAPSHOT, flares });
    const { token } = SAMPLE_FLARE;
    // A flare that is in the history but in no list.
    const record = { started: SAMPLE_EXPLANATION, why: null, cause: "faded", outcome: SAMPLE_OUTCOME };
    const stored = { ...SAMPLE_FLARE, id: "stored", started_trending_at: "2017-11-11T08:00:00.000Z" };
    const flare = { ...stored, finished_trending_at: "2017-11-11T08:10:00.000Z" };
    await page.route(`**/api/v1/tokens/bsc/${token.address.toLowerCase()}`, (route) =>
      route.fulfill({ json: { candles: [], flares: [{ flare, ...record }] } }),
    );
    await goto(`token/${token.address}`);
    const items = page.locator(".episodes tbody tr");
    await page.getByText("2017-11-11").waitFor();
    expect(await items.last().textContent()).toMatch(/^2017-11-11 08:0010 min.*3\.4activity faded$/);
    expect(await page.locator(".links").getByText("share").getAttribute("href")).toBe(
      `token/bsc/${token.address.toLowerCase()}`,
    );
    await page.route(`**/api/v1/tokens/bsc/${OTHER.token.address}`, (route) =>
      route.fulfill({ status: 503 }),
    );
    await goto(`token/${OTHER.token.address}`);
    await page.locator("h2", { hasText: "OTHER" }).waitFor();
    await page.getByText("because the stored flares did not load: the server returned 503.").waitFor();
    expect(await page.getByText("2017-11-11").count()).toBe(0);
    expect(await items.count()).toBe(1);
  });

  test("the track record shows flares and their control on one scale, also if the flares did worse", async ({
    onTestFinished,
  }) => {
    const { page, goto } = await open(onTestFinished, SAMPLE_SNAPSHOT, {
      viewport: { width: 320, height: 640 },
    });
    await page.route("**/api/v1/record?*", async (route) => {
      const { searchParams } = new URL(route.request().url());
      await route.fulfill({ json: await recordOf(searchParams.get("window") === "7d" ? 40 : 0) });
    });
    await goto("record");
    await page.getByText("No flare counts in these 24 hours.").waitFor();
    await page.getByText("7 days", { exact: true }).click();
    const first = page.locator(".record h3").first();
    await first.getByText("Bought at the start, sold at the finish").waitFor();
    expect(new URL(page.url()).hash).toBe("#/record?window=7d");
    expect(await page.locator(".record-facts").first().innerText()).toMatch(/^Median\s+−2\.5 %\s+n 40\./);
    await page.getByText(/^Of each flare, with 0\.3\s% fee a side\. The flares did worse/).waitFor();
    const rows = await page.locator(".spreads tbody tr:has(td)").allInnerTexts();
    expect(rows.slice(2, 4).map((row) => row.replace(/\s+/g, " "))).toEqual([
      "Flares n 40 −12.3 % 0 %",
      "Other times n 40 +1.0 % 100 %",
    ]);
    expect(await page.locator(".left-out").allInnerTexts()).toEqual([
      "",
      "",
      "40 of 40 left out: no trade then, perhaps nobody could sell",
    ]);
    for (const width of widthsFor(0)) {
      await page.setViewportSize({ width, height: 640 });
      await expect
        .poll(() => page.evaluate(CUT_NUMBERS), { message: `at ${width}`, interval: 10 })
        .toMatchObject({ cut: [], wide: 0 });
    }
    await page.setViewportSize({ width: 721, height: 640 });
    const [, , flares, control] = await page
      .locator(".spreads rect")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
    expect(flares?.right).toBeLessThan(control?.left);
    expect(await findViolations(page)).toEqual([]);
    await page.goBack();
    await page.getByText("No flare counts in these 24 hours.").waitFor();
  });

  test("the page works in a browser that denies session storage", async ({ onTestFinished }) => {
    const deny =
      'Object.defineProperty(globalThis, "sessionStorage", { get() { throw new Error("denied"); } })';
    const { page, goto } = await open(onTestFinished, SAMPLE_SNAPSHOT, { scripts: [deny] });
    await goto("flares");
    await page.locator(".status.good").waitFor();
  });

  test("a plot's time is UTC, also in another time zone", async ({ onTestFinished }) => {
    const { page, goto } = await openDashboard(onTestFinished, new ToldMarket(SAMPLE_SNAPSHOT), {
      own: { timezoneId: "Asia/Kolkata" },
    });
    await goto(`token/${SAMPLE_FLARE.token.address}`);
    const shown = page.locator(".values");
    await page.locator(".token-chart .area").hover();
    const minute = Number(/:(\d\d)/.exec((await shown.textContent()) ?? "")?.[1]);
    // The plot shows recent minutes, and Kolkata's offset includes half an hour.
    const off = Math.abs(((minute - new Date().getUTCMinutes() + 90) % 60) - 30);
    expect(off).toBeLessThan(10);
  });

  test("a token's page shows the stored candles of 1 or 24 hours, and a reload keeps the choice", async ({
    onTestFinished,
  }) => {
    const { page, goto } = await open(onTestFinished, SAMPLE_SNAPSHOT);
    const minute = (before: number, price: string) => ({
      open_at: new Date(Date.now() - before * 60_000).toISOString(),
      ...{ open: price, high: price, low: price, close: price, volume: "1" },
    });
    const candles = [minute(700, "4"), minute(690, "5"), minute(20, "2"), minute(10, "3")];
    await page.route("**/api/v1/tokens/bsc/*", (route) => route.fulfill({ json: { candles, flares: [] } }));
    await goto(`token/${SAMPLE_FLARE.token.address}`);
    await page.locator(".token-chart .rise").first().waitFor();
    for (const [name, text] of [
      ["1h", "between 2 and 3"],
      ["24h", "between 2 and 5"],
    ]) {
      await page.getByText(name ?? "", { exact: true }).click();
      await page.getByRole("img", { name: text ?? "" }).waitFor();
    }
    expect(page.url()).toContain("?window=24h");
    await page.reload();
    await page.getByRole("img", { name: "between 2 and 5" }).waitFor();
  });
});
