import { describe, expect, test } from "vitest";
import type { Snapshot } from "../../src/base/model/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../support/world/samples.ts";
import { COLOR_RULES, findViolations } from "./axe.ts";
import { findChromium, widthsFor } from "./chromium.ts";
import { CUT_NUMBERS } from "./cut-numbers.ts";
import { openDashboard } from "./open-dashboard.ts";
import { ToldMarket } from "./told-market.ts";
import { WIDE } from "./wide-market.ts";

const [running] = WIDE.flares.pro;
const [coin] = WIDE.charts.exchange;
const [onExchange] = WIDE["flares.exchange"].pro;
const TOKEN = `token/bsc/${SAMPLE_FLARE.token.address.toLowerCase()}`;
/** Pages on which all rules are tried. Other tests try them elsewhere, without forced colors. */
const TRIED_HERE = /exchange|^(flare|token)\/|^docs\//;
/** Pages that `npm test` checks: one of each kind, and none that other tests check. */
const IN_TESTS = /group=exchange|^token\/bsc|^flare\/(?!unknown)/;
/** A flare with wide numbers, which ends while the server runs, so that it is stored. */
const ENDING = { ...running, ...SAMPLE_FLARE, liquidity: "888888888.88", id: "ending" };

const BEFORE: Snapshot = {
  ...WIDE,
  flares: { ...WIDE.flares, pro: [ENDING, ...WIDE.flares.pro] },
  explanations: { ...WIDE.explanations, [ENDING.id]: SAMPLE_EXPLANATION },
};

describe.skipIf(findChromium() === undefined)("every page in Chromium", () => {
  test("no number of a permalink or an event is cut off, and no page is wider than the screen, from 320 to 1920 pixels", async ({
    onTestFinished,
  }) => {
    const market = new ToldMarket(BEFORE);
    const { page, gateway } = await openDashboard(onTestFinished, market);
    const ended = { ...ENDING, finished_trending_at: new Date().toISOString() };
    const { finished_trending } = WIDE.flares;
    const started = { ...ENDING, id: "started" };
    market.show({
      ...WIDE,
      flares: { free: [], pro: [started], finished_trending: [ended, ...finished_trending] },
      explanations: {
        ...WIDE.explanations,
        [started.id]: Object.values(WIDE.explanations)[0] ?? SAMPLE_EXPLANATION,
        [ENDING.id]: { ...SAMPLE_EXPLANATION, finish_cause: "canary", warnings: ["liquidity-removed"] },
      },
    });
    const paths = [
      `flare/${running?.id}`,
      `flare/${ENDING.id}`,
      TOKEN,
      `token/exchange/${encodeURIComponent(coin?.token.symbol ?? "")}`,
      "#/feed",
    ];
    for (const [at, path] of paths.entries()) {
      await expect
        .poll(async () => (await page.goto(`${gateway.url}/${path}`))?.status(), { message: path })
        .toBe(200);
      if (path === "#/feed") await page.locator(".events .change").first().waitFor();
      for (const width of widthsFor(at)) {
        await page.setViewportSize({ width, height: 900 });
        const found = await page.evaluate(CUT_NUMBERS);
        expect(found, `${path} at ${width}`).toEqual({ numbers: expect.any(Number), cut: [], wide: 0 });
        expect((found as { numbers: number }).numbers, path).toBeGreaterThanOrEqual(3);
      }
    }
  });

  // Forced colors are the same in both schemes.
  for (const colorScheme of IS_SOAK ? (["light", "dark"] as const) : (["light"] as const))
    test(`axe finds no problem on each kind of page with forced colors, ${colorScheme}`, async ({
      onTestFinished,
    }) => {
      const { page, gateway } = await openDashboard(onTestFinished, new ToldMarket(WIDE), {
        look: { colorScheme, forcedColors: "active" },
      });
      // Neighbors wait for different elements, because a page's own stay until the next is there.
      const pages = {
        "#/now": ".flares tbody tr",
        "#/markets?board=new": ".new tbody tr",
        [`#/token/exchange/${encodeURIComponent(onExchange?.token.symbol ?? "")}`]: ".episodes tbody tr",
        "#/markets": ".strongest tbody tr",
        "#/feed?updates=true": ".feed",
        "#/markets?board=longest": ".longest tbody tr",
        "#/finished": ".finished tbody tr",
        "#/developers": ".developers pre",
        "#/record": '.record[aria-busy="false"]',
        "#/now?group=exchange": ".flares tbody tr",
        [`#/${TOKEN}`]: ".token-chart",
        [`flare/${running?.id}`]: "h1",
        [TOKEN]: "h1",
        "flare/unknown": "h1",
        widgets: 'flare-list[state="live"]',
        docs: "h1",
        "docs/events": "h1",
        "docs/guides": "h1",
      };
      for (const [path, ready] of Object.entries(pages).filter(([path]) => IS_SOAK || IN_TESTS.test(path))) {
        await page.goto(`${gateway.url}/${path}`);
        await page.locator(ready).first().waitFor();
        const hasAll = colorScheme === "light" && (IS_SOAK || TRIED_HERE.test(path));
        const rules = hasAll ? undefined : COLOR_RULES;
        expect(await findViolations(page, rules), path).toEqual([]);
      }
    });
});
