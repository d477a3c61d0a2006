import { readdirSync, readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { CHAIN_GROUPS, GROUP_FACTS } from "../../src/base/model/groups.ts";
import type { Explanation, Snapshot } from "../../src/base/model/index.ts";
import type { SourceInfo } from "../../src/base/protocol/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import {
  SAMPLE_BSC_CHART_ITEM,
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_SNAPSHOT,
} from "../support/world/samples.ts";
import { findViolations } from "./axe.ts";
import { findChromium } from "./chromium.ts";
import { makeKeys, openDashboard, shareDashboard } from "./open-dashboard.ts";
import { ToldMarket } from "./told-market.ts";

const TOKEN = `token/${SAMPLE_FLARE.token.address}`;
const ENDED_ID = SAMPLE_SNAPSHOT.flares.finished_trending[0]?.id ?? "";

/** A market whose source is in trouble. */
class TroubledMarket extends ToldMarket {
  readonly #trouble: object;

  constructor(trouble: {
    readonly state: "stale" | "down";
    readonly reason: string;
    readonly data_age_ms: number;
  }) {
    super(SAMPLE_SNAPSHOT);
    this.#trouble = trouble;
  }

  override freshness() {
    return { ...super.freshness(), ...this.#trouble };
  }
}

/** A recording of candles, which have neither trades nor pools. */
class RecordedMarket extends ToldMarket {
  override readonly info: SourceInfo = {
    name: "told",
    origin: "recorded",
    facts: { trades: false, liquidity: false, listings: false, profiles: false },
  };
}

/**
 * Returns the sample lists without the running flare, with this explanation of the ended one, and
 * with this canary flag in the chart.
 */
function endedBy(why: Partial<Explanation> | undefined, canary?: boolean): Snapshot {
  const { finished_trending } = SAMPLE_SNAPSHOT.flares;
  const item = {
    ...SAMPLE_BSC_CHART_ITEM,
    flare: { ...SAMPLE_BSC_CHART_ITEM.flare, canary: canary === true },
  };
  return {
    ...SAMPLE_SNAPSHOT,
    flares: { free: [], pro: [], finished_trending: why ? finished_trending : [] },
    charts: { ...SAMPLE_SNAPSHOT.charts, bsc: canary === undefined ? [] : [item] },
    explanations: why ? { [ENDED_ID]: { ...SAMPLE_EXPLANATION, finish_cause: "faded", ...why } } : {},
  };
}

/** Returns whether the chart's line or last candle has the theme's color. */
const PAINTED = `(() => {
  const shown = document.querySelector(".token-chart .last");
  const ink = getComputedStyle(document.body).color;
  return getComputedStyle(shown).stroke === ink;
})()`;

/** Counts the colored points of a picture, which are not gray. */
const COUNT_COLORED = `(async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let colored = 0;
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue] = data.subarray(at, at + 3);
    if (Math.max(red, green, blue) - Math.min(red, green, blue) > 60) colored += 1;
  }
  return colored;
})`;

/** Counts the colored points of the screen. */
async function countColored(page: Page): Promise<number> {
  const picture = (await page.screenshot()).toString("base64");
  return Number(await page.evaluate(`${COUNT_COLORED}("${picture}")`));
}

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (!box) throw new Error("the element is not on the page");
  return box;
}

/** Returns these properties of each selected element. */
async function stylesOf(
  page: Page,
  selector: string,
  ...names: readonly string[]
): Promise<readonly string[]> {
  const script = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) =>
    ${JSON.stringify(names)}.map((name) => getComputedStyle(element).getPropertyValue(name)).join(" on "))`;
  return (await page.evaluate(script)) as readonly string[];
}

const ASSETS = new URL("../../dist/dashboard/assets/", import.meta.url);

/** The style sheets of the parts that load later, which scripts name. */
const LATER_SHEETS = new Set(
  readdirSync(ASSETS)
    .filter((file) => file.endsWith(".js"))
    .flatMap((file) => readFileSync(new URL(file, ASSETS), "utf8").match(/\w[\w-]*-[\w-]{8}\.css/g) ?? []),
);

/** Colors and boxes of all elements of the page. */
const ALL_STYLES = `[...document.querySelectorAll("body *")].map((element) => {
  const style = getComputedStyle(element);
  const names = ["color", "background-color", "border", "border-radius", "padding", "margin", "font",
    "display", "opacity", "text-align", "white-space", "min-height", "gap", "fill", "cursor"];
  const name = element.tagName + "." + element.getAttribute("class");
  return [name, ...names.map((name) => style.getPropertyValue(name))].join("; ");
})`;

/** Adds the later style sheets, and returns {@link ALL_STYLES} without and with them. */
const WITHOUT_AND_WITH = `(async () => {
  const links = ${JSON.stringify([...LATER_SHEETS])}.map((file) =>
    Object.assign(document.createElement("link"), { rel: "stylesheet", href: "assets/" + file }));
  await Promise.all(links.map((link) => new Promise((resolve, reject) => {
    Object.assign(link, { onload: resolve, onerror: reject });
    document.head.append(link);
  })));
  // Both readings are in one step, so that nothing else changes between them. A transition would
  // keep the earlier values.
  const still = new CSSStyleSheet();
  still.replaceSync("* { transition: none !important }");
  document.adoptedStyleSheets = [still];
  const styles = [true, false].map((isOff) => {
    for (const { sheet } of links) sheet.disabled = isOff;
    return ${ALL_STYLES};
  });
  document.adoptedStyleSheets = [];
  for (const link of links) link.remove();
  return styles;
})()`;

/** One property of each style sheet, to detect a sheet that the build omits. */
const LOOK: readonly (readonly [page: string, selector: string, property: string, value: string])[] = [
  ["now", "body", "max-width", "1600px"],
  ["now", "header", "position", "sticky"],
  ["now", "main", "flex-grow", "1"],
  ["now", ".lanes", "height", "64px"],
  ["now", ".bar.flaring", "background-color", "rgb(232, 115, 12)"],
  ["now", ".headline .live", "color", "rgb(232, 115, 12)"],
  ["now", ".headline h2", "font-size", "28px"],
  ["now", ".flares tbody tr", "height", "56px"],
  ["now", ".price", "text-align", "right"],
  ["now", "nav a[aria-current]", "font-weight", "500"],
  ["feed", ".feed-head", "position", "sticky"],
  [TOKEN, ".token-page", "display", "grid"],
  [TOKEN, ".token-chart", "min-height", "420px"],
];

describe.skipIf(findChromium() === undefined)("the look of a market in Chromium", () => {
  const shared = shareDashboard(() => new ToldMarket(SAMPLE_SNAPSHOT));

  test("a token's chart has the full width, with its facts beside its flares on a wide screen and below on a phone", async () => {
    const { page, goto } = await shared();
    await goto(TOKEN);
    await page.locator(".token-chart").waitFor();
    for (const [width, isBeside] of [
      [1_440, true],
      [1_024, true],
      [390, false],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      const at = (name: string) => boxOf(page.locator(name));
      const [main, chart] = await Promise.all([at("#content"), at(".token-chart")]);
      const [facts, flares] = await Promise.all([at(".facts"), at(".past")]);
      expect([chart.width, chart.height >= 420], `at ${width}`).toEqual([main.width, true]);
      expect(facts.x >= flares.x + flares.width, `beside at ${width}`).toBe(isBeside);
    }
  });

  test("a plot has the theme's colors, also after the theme changes", async () => {
    const { page, goto } = await shared();
    await goto(TOKEN);
    for (const colorScheme of ["light", "dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => page.evaluate(PAINTED)).toBe(true);
    }
  });

  test("on a phone the filters can be opened and cleared", async () => {
    const { page, goto } = await shared({ viewport: { width: 390, height: 844 } });
    await goto("now");
    const search = page.getByRole("searchbox", { name: "Symbol, name or address" });
    expect(await search.count()).toBe(0);
    await page.getByRole("button", { name: "+ Filter" }).click();
    await search.fill("nothing");
    await page.getByText("The only flare does not match your filters.").waitFor();
    expect(await page.getByRole("button", { name: "All", exact: true }).getAttribute("aria-pressed")).toBe(
      "false",
    );
    await page.getByRole("button", { name: "Show all" }).click();
    await page.locator(".flares tbody tr").first().waitFor();
    const name = page.getByRole("textbox", { name: "Name of this view" });
    await name.fill("x".repeat(40));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "xxxx" }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.getByRole("button", { name: "Remove" }).click();
  });

  test("each style sheet applies to its page", async () => {
    const { page, goto } = await shared({ colorScheme: "light", viewport: { width: 1_280, height: 900 } });
    for (const [name, selector, property, value] of LOOK) {
      if (!page.url().endsWith(name)) await goto(name);
      await page.locator(selector).first().waitFor();
      expect((await stylesOf(page, selector, property))[0], `${selector} ${property}`).toBe(value);
    }
  });

  test("the style sheet of a part that loads later changes nothing outside that part", async () => {
    const { page, goto } = await shared({ colorScheme: "light", viewport: { width: 1_280, height: 900 } });
    expect(LATER_SHEETS.size).toBeGreaterThanOrEqual(4);
    await page.reload();
    for (const [name, list] of [
      ["now", ".flares"],
      ["finished", ".finished"],
    ] as const) {
      await goto(name);
      await page.locator(`${list} tbody svg.flare-plot`).first().waitFor();
      const [without, withAll] = (await page.evaluate(WITHOUT_AND_WITH)) as readonly unknown[];
      expect(withAll, name).toEqual(without);
    }
  });

  test("with forced colors, the selected list and page differ from the others", async () => {
    const { page, goto } = await shared({ forcedColors: "active" });
    await goto("now");
    const [chosen, other, ...rest] = await stylesOf(
      page,
      ".segments input + span",
      ...["color", "background-color"],
    );
    expect(chosen).not.toBe(other);
    expect(new Set(rest)).toEqual(new Set([other]));
    for (const colors of [chosen, other]) {
      const [ink, paper] = (colors ?? "").split(" on ");
      expect(ink).not.toBe(paper);
    }
    const [current, ...others] = await stylesOf(page, "nav a", "outline-style");
    expect([current, new Set(others)]).toEqual(["solid", new Set(["none"])]);
    const [dot, paper] = await stylesOf(page, ".status .dot, body", "background-color");
    expect(dot).not.toBe(paper);
  });
});

describe.skipIf(findChromium() === undefined)("the look of the dashboard in Chromium", () => {
  test("the key form has its label above its field, inside the box with the visitor's plan", async ({
    onTestFinished,
  }) => {
    const { keys } = makeKeys(onTestFinished);
    const { page, goto } = await openDashboard(onTestFinished, new ToldMarket(SAMPLE_SNAPSHOT), {
      settings: { keys },
      look: { viewport: { width: 390, height: 900 } },
    });
    await goto("now");
    await page.getByRole("button", { name: "Enter a key" }).click();
    const field = await boxOf(page.getByLabel("Key", { exact: true }));
    const label = await boxOf(page.locator(".key label").first());
    const plan = await boxOf(page.locator(".plan"));
    expect(field.y).toBeGreaterThan(label.y + 10);
    expect(field.width).toBeGreaterThan(250);
    expect(field.x + field.width).toBeLessThan(plan.x + plan.width);
    expect(await stylesOf(page, ".plan", "border-top-style")).toEqual(["solid"]);
  });

  const troubles = [
    ["stale", "The server's data is stale."],
    ["down", "The server cannot reach its market."],
  ] as const;
  for (const [state, said] of IS_SOAK ? troubles : troubles.slice(0, 1)) {
    test(`while the source is ${state} the page is gray, a notice appears at the bottom, and no age of 0s is shown`, async ({
      onTestFinished,
    }) => {
      const live = await openDashboard(onTestFinished, new ToldMarket(SAMPLE_SNAPSHOT));
      await live.goto(TOKEN);
      await live.page.locator(".token-chart").waitFor();
      const market = new TroubledMarket({ state, reason: "two polls differ", data_age_ms: 0 });
      const { page, goto } = await openDashboard(onTestFinished, market);
      await goto(TOKEN);
      const notice = page.locator(".outage", { hasText: said });
      await notice.waitFor();
      await page.locator(".token-chart").waitFor();
      expect(await notice.textContent()).toMatch(/ as of [\d:]{5} UTC\. Reason: two polls differ\.$/);
      await expect.poll(() => page.locator(".status summary").innerText()).toMatch(/as of [\d:]{5} UTC$/);
      expect(await page.locator("body").innerText()).not.toMatch(/\b0s old/);
      const [before, after] = [await countColored(live.page), await countColored(page)];
      // Only the header's dot and mark, and a footer link, stay colored.
      expect(before).toBeGreaterThan(500);
      expect(after).toBeLessThan(before / 3);
      await page.setViewportSize({ width: 390, height: 500 });
      const top = await boxOf(notice);
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      expect(await page.evaluate("scrollY")).toBeGreaterThan(100);
      const bottom = await boxOf(notice);
      expect([bottom.y, bottom.x]).toEqual([top.y, top.x]);
      // Just above the places, which stay in reach.
      const places = await boxOf(page.locator("nav.places-bar"));
      expect(places.y - bottom.y - bottom.height).toBe(8);
      expect([bottom.x >= 0, bottom.x + bottom.width <= 390]).toEqual([true, true]);
      // The notice does not cover the footer.
      const endOfFooter = async () => {
        // Stored flares that arrive late make the page longer.
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
        const { y, height } = await boxOf(page.locator("footer span"));
        return y + height;
      };
      await expect.poll(endOfFooter).toBeLessThanOrEqual(bottom.y);
      // In `npm test`, dashboard-state.test.ts checks such a notice.
      if (IS_SOAK) expect(await findViolations(page)).toEqual([]);
    });
  }

  test("a token shows its known warnings, also after a possible rug", async ({ onTestFinished }) => {
    const warnings = ["liquidity-removed", "price-collapsed"];
    const canary: Partial<Explanation> = { finish_cause: "canary", warnings };
    const cases: readonly (readonly [string, Snapshot])[] = [
      ["none", SAMPLE_SNAPSHOT],
      ["⚠ possible rug at the end of its last flare: liquidity removed, price collapsed", endedBy(canary)],
      ["⚠ possible rug at the end of its last flare", endedBy({ finish_cause: "canary" }, false)],
      ["⚠ one buyer, when its last flare ended", endedBy({ warnings: ["one-buyer"] })],
      ["none when its last flare ended", endedBy({})],
      ["none", endedBy({}, false)],
      ["⚠ possible rug", endedBy({}, true)],
      ["not known", endedBy(undefined)],
    ];
    const market = new ToldMarket(SAMPLE_SNAPSHOT);
    const { page, goto } = await openDashboard(onTestFinished, market);
    // Stored flares would have other warnings.
    await page.route("**/api/v1/tokens/**", (route) => route.fulfill({ status: 404 }));
    await goto(TOKEN);
    for (const [said, snapshot] of cases) {
      market.show(snapshot);
      const warnings = page.locator("dt", { hasText: "Warnings" }).locator("+ dd");
      await expect.poll(() => warnings.textContent()).toBe(said);
    }
  });

  test("a recorded market shows its date, and no columns, filters and lists for facts that it lacks", async ({
    onTestFinished,
  }) => {
    const { page, goto } = await openDashboard(onTestFinished, new RecordedMarket(SAMPLE_SNAPSHOT));
    await goto("now");
    await expect.poll(() => page.locator(".origin").innerText()).toMatch(/^recorded · \d{4}-\d\d-\d\d/);
    const texts = async (selector: string) => {
      const shown = await page.locator(`${selector} >> visible=true`).allInnerTexts();
      return shown.map((text) => text.replace(/\s*\d*$/, ""));
    };
    const heads = () => texts(".flares thead th:not(.watch)");
    expect(await heads()).toEqual([
      ...["Token", "Last hour", "Price", "Since start", "5 min", "Volume 1 h", "Flaring for ↑", "Why"],
    ]);
    await page.route("**/api/v1/candles", (route) => route.fulfill({ status: 404, json: {} }));
    await page.reload();
    await expect.poll(heads).toEqual(["Token", "Price", "5 min", "Flaring for ↑", "Why"]);
    await page.getByRole("button", { name: "+ Filter" }).click();
    await expect.poll(() => texts(".choice > span")).toEqual(["5 min", "Order", "Views"]);
    await goto("markets");
    expect(await texts(".segments label > span")).toEqual([
      ...["Strongest", "Longest", "All"],
      ...CHAIN_GROUPS.map((group) => GROUP_FACTS[group].label),
      "Exchanges",
    ]);
    await goto(TOKEN);
    expect(await texts(".facts dt")).toEqual(["Price as recorded", "Warnings", "Created"]);
  });
});
