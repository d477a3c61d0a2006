import type { Browser, Page } from "playwright-core";
import { findChromium, launch } from "../../../browser/chromium.ts";
import type { Row } from "../report.ts";
import { mainThreadRows, traceMainThread } from "./main-thread.ts";
import { startTicking } from "./ticking-gateway.ts";

const SIZES = {
  full: { forMs: 10_000, counts: [200, 1_000] },
  short: { forMs: 500, counts: [200] },
} as const;
/**
 * Adds up the layout shift from now on that the visitor did not cause, by the browser's own
 * measure.
 */
const SHIFTS = `globalThis.shifted = 0;
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifted += value;
}).observe({ type: "layout-shift" })`;

/**
 * Measures the dashboard's cost in a browser: tasks of the main thread while flares change, layout
 * shift meanwhile, and bytes of the first load.
 */
export async function benchDashboard(size: keyof typeof SIZES): Promise<Row[]> {
  const executable = findChromium();
  if (executable === undefined)
    throw new Error("install Debian's chromium: there is no browser to measure in");
  const browser = await launch(executable);
  const { forMs, counts } = SIZES[size];
  const rows: Row[] = [];
  try {
    rows.push(...(await measureSlowLine(browser)));
    for (const count of counts) {
      rows.push(...(await measure(browser, count, 1, forMs)));
      if (size === "full") rows.push(...(await measure(browser, count, 10, forMs)));
    }
  } finally {
    await browser.close();
  }
  return rows;
}

async function measure(browser: Browser, count: number, changes: number, forMs: number): Promise<Row[]> {
  await using server = await startTicking(count, changes);
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  const loaded = countBytes(page);
  await page.goto(server.url);
  await page
    .locator(".flares tbody tr")
    .nth(count - 1)
    .waitFor();
  const bytes = await loaded();
  await page.evaluate(SHIFTS);
  const thread = await traceMainThread(browser, page, forMs);
  const shifted = Number(await page.evaluate("shifted"));
  await page.close();
  const what = `${count} flares, 20 times a second ${changes === 1 ? "one changes" : `${changes} change`}`;
  return [
    ...mainThreadRows(what, thread, count === 200),
    { what: `${what}: layout shift`, value: shifted, unit: "", aim: "0" },
    { what: `${what}: first load, as sent (gzip)`, value: bytes / 1_000, unit: "kB", aim: "≤ 60" },
  ];
}

/** Chromium's "Slow 3G": 400 ms for each request and 400 kbit/s. */
const SLOW_LINE = {
  offline: false,
  latency: 400,
  downloadThroughput: 400_000 / 8,
  uploadThroughput: 400_000 / 8,
};

/** Measures when the first row is there on a slow line, and when the page is live. */
async function measureSlowLine(browser: Browser): Promise<Row[]> {
  await using server = await startTicking(20, 1);
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", SLOW_LINE);
  const startedMs = performance.now();
  const loading = page.goto(server.url, { waitUntil: "commit" });
  await page.locator("main tbody tr").first().waitFor();
  const firstMs = performance.now() - startedMs;
  await page.locator(".flares tbody tr").first().waitFor();
  const liveMs = performance.now() - startedMs;
  await loading;
  // A row in the document is not painted before the style sheet has loaded.
  const paintedMs = Number(
    await page.evaluate(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime`),
  );
  await page.close();
  return [
    { what: "slow 3G: the first row", value: Math.max(firstMs, paintedMs) / 1_000, unit: "s", aim: "≤ 4" },
    { what: "slow 3G: the page is live", value: liveMs / 1_000, unit: "s", aim: "reported" },
  ];
}

/** Counts the bytes of all response bodies that a page receives from now on. */
function countBytes(page: Page): () => Promise<number> {
  const sizes: Promise<number>[] = [];
  page.on("requestfinished", (request) =>
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize)),
  );
  return async () => (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}
