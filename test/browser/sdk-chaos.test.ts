import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { takeOver } from "../client/takeover.ts";
import { expectWhole, ROOM, weather } from "../client/weather.ts";
import { test } from "../http/stream/websocket-fixture.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { findChromium, shareBrowser } from "./chromium.ts";
import { assembleIn, servePage } from "./sdk-page.ts";

const SEED = Number(process.env.SEED ?? 1);
/** Fewer than in Node, because a browser connects more slowly. */
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

  test(`[L2] [L3] over connections that are cut, frozen and throttled, each client ends with the state that REST serves, with no hole and no repeat (SEED=${SEED})`, async ({
    makeWire,
  }) => {
    const wire = await makeWire(ROOM);
    const weathered = await weather(wire, SEED, HASTE, (members) => assembleIn(page, members, HASTE, SEED));
    expectWhole(weathered);
    expect(pageErrors).toEqual([]);
  });

  // `npm test` has it in Node.
  test.runIf(IS_SOAK)(
    `[L2] [L3] [W31] [F3] while a leader drains and its edge takes over, ${STREAMS} continue there, with no hole and no repeat (SEED=${SEED})`,
    async ({ onTestFinished }) => {
      await takeOver(STREAMS, onTestFinished, (members) => assembleIn(page, members, 1, SEED));
      expect(pageErrors).toEqual([]);
    },
  );
});
