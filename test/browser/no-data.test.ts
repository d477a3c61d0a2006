import { describe, expect, test } from "vitest";
import type { Snapshot } from "../../src/base/model/index.ts";
import type { Freshness } from "../../src/base/protocol/index.ts";
import { SAMPLE_SNAPSHOT } from "../support/world/samples.ts";
import { ToldSource } from "../support/world/told-source.ts";
import { findViolations } from "./axe.ts";
import { findChromium } from "./chromium.ts";
import { openDashboard } from "./open-dashboard.ts";

const REASONS = [
  "the market has no data yet",
  "exchange has no data yet: each of binance, kucoin, and gate has a host name that does not resolve",
  "bsc has no data yet: none of the 7 endpoints of bsc can be used, because each refused the connection",
] as const;

/** A market without data until the test sets a snapshot. */
class EmptyMarket extends ToldSource {
  readonly info = {
    name: "empty",
    origin: "live",
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
  } as const;
  #isEmpty = true;

  show(snapshot: Snapshot): void {
    this.#isEmpty = false;
    this.tell({ observedAtMs: Date.now(), snapshot });
  }

  override freshness(): Freshness {
    if (!this.#isEmpty) return super.freshness();
    const age = { observed_at: null, last_success_at: null, data_age_ms: 0 };
    return { ...age, state: "stale", reason: REASONS.join("; ") };
  }
}

describe.skipIf(findChromium() === undefined)("pages of a server without data in Chromium", () => {
  test("the dashboard says why there is no data and what to do, and shows the first data without a reload", async ({
    onTestFinished: finish,
  }) => {
    const market = new EmptyMarket();
    const { page, goto } = await openDashboard(finish, market);
    await goto("flares");
    expect(await page.locator("main h2").first().textContent()).toBe("The server has no data yet");
    expect(await page.locator("main li").allTextContents()).toEqual(REASONS.slice(1));
    // Without the start of the command line, which differs between a package and a clone.
    expect(await page.locator("main").textContent()).toContain(
      "run Flarewire's command doctor on the server",
    );
    expect(await page.locator("main code").allTextContents()).toEqual(["doctor"]);
    expect(await page.locator("#status-word").textContent()).toBe("no data yet");
    expect(await findViolations(page)).toEqual([]);
    market.show(SAMPLE_SNAPSHOT);
    await page.locator(".flares").first().waitFor();
  });

  test("the widgets page and its elements say that there is no data", async ({ onTestFinished: finish }) => {
    const { page, gateway } = await openDashboard(finish, new EmptyMarket());
    await page.goto(`${gateway.url}/widgets`);
    await page.getByText("The server has no data yet. The dashboard says why.").waitFor();
    const lists = page.locator('flare-list[state="waiting"]');
    await expect.poll(() => lists.count()).toBe(2);
    expect(await lists.locator("[part=note]").allTextContents()).toEqual(["no data yet", "no data yet"]);
  });
});
