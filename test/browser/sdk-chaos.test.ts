import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { CHAOS_LIMITS, expectNoLoss, runChaos } from "../clients/sdk/chaos-run.ts";
import { takeOver } from "../clients/sdk/takeover.ts";
import { test } from "../gateway/http/stream/websocket-fixture.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { findChromium, shareBrowser } from "./chromium.ts";
import { servePage, startGroupIn } from "./sdk-page.ts";

const SEED = Number(process.env.SEED ?? 1);
/** Lower than in Node, because a browser connects more slowly. */
const HASTE = 20;
const STREAMS = 24;

describe.skipIf(findChromium() === undefined)("streams of the SDK in Chromium", () => {
  let site: Awaited<ReturnType<typeof servePage>>;
  let page: Page;
  const pageErrors: string[] = [];

  beforeAll(async () => {
    site = await servePage();
    page = await (await shareBrowser()).newPage();
    page.on("pageerror", (error) => pageErrors.push(error.message));
    await page.goto(site.url);
  });

  afterAll(async () => {
    await page?.close();
    await site?.[Symbol.asyncDispose]();
  });

  test(`[L2] [L3] over cut, frozen and throttled connections, each stream ends with the server's lists, without gaps or repeats (SEED=${SEED})`, async ({
    makeWire,
  }) => {
    const wire = await makeWire(CHAOS_LIMITS);
    const result = await runChaos(wire, SEED, HASTE, (members) => startGroupIn(page, members, HASTE, SEED));
    expectNoLoss(result);
    expect(pageErrors).toEqual([]);
  });

  // `npm test` runs this in Node only.
  test.runIf(IS_SOAK)(
    `[L2] [L3] [W31] [F3] while a leader drains and its edge takes over, ${STREAMS} streams continue there without gaps or repeats (SEED=${SEED})`,
    async ({ onTestFinished }) => {
      await takeOver(STREAMS, onTestFinished, (members) => startGroupIn(page, members, 1, SEED));
      expect(pageErrors).toEqual([]);
    },
  );
});
