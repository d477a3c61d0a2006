import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, CDPSession } from "playwright-core";
import { findChromium, launch } from "../../../browser/chromium.ts";
import type { Row } from "../report.ts";
import { startTicking } from "./ticking-gateway.ts";

const FLARES = 200;
/** The page's bounded lists and the browser's caches are full after three minutes. */
const SIZES = {
  full: { fillMs: 180_000, samples: 20, everyMs: 30_000 },
  short: { fillMs: 100, samples: 2, everyMs: 100 },
} as const;
const PAGES = {
  "the page of flares": { address: "", ready: `.flares tbody tr >> nth=${FLARES - 1}` },
  "every event": { address: "#/events?updates=true", ready: ".events tbody tr >> nth=20" },
} as const;
const KB = 1_000;

/** A page's memory after a garbage collection. */
interface Sample {
  readonly atMs: number;
  readonly usedKb: number;
  readonly nodes: number;
}

/**
 * Measures whether the dashboard's memory grows: its heap after forced garbage collections, for ten
 * minutes with 20 changes a second, after its lists are full.
 */
export async function benchHeap(size: keyof typeof SIZES): Promise<Row[]> {
  const executable = findChromium();
  if (executable === undefined)
    throw new Error("install Debian's chromium: there is no browser to measure in");
  const browser = await launch(executable);
  try {
    await using server = await startTicking(FLARES, 1);
    const measuring = Object.entries(PAGES).map(([what, { address, ready }]) =>
      measure(browser, what, `${server.url}/${address}`, ready, SIZES[size]),
    );
    return (await Promise.all(measuring)).flat();
  } finally {
    await browser.close();
  }
}

async function measure(
  browser: Browser,
  what: string,
  url: string,
  ready: string,
  { fillMs, samples, everyMs }: (typeof SIZES)[keyof typeof SIZES],
): Promise<Row[]> {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  await page.goto(url);
  await page.locator(ready).waitFor();
  const session = await page.context().newCDPSession(page);
  await sleep(fillMs);
  const taken = [await sample(session)];
  for (let at = 0; at < samples; at++) {
    await sleep(everyMs);
    taken.push(await sample(session));
  }
  await page.close();
  const [first, last] = [taken[0], taken.at(-1)];
  if (!first || !last) throw new Error("no sample was taken");
  const minutes = Math.round((last.atMs - first.atMs) / 6_000) / 10;
  return [
    { what: `${what}: heap once its lists are full`, value: first.usedKb, unit: "kB", aim: "reported" },
    { what: `${what}: heap ${minutes} minutes later`, value: last.usedKb, unit: "kB", aim: "the same" },
    { what: `${what}: slope`, value: slopeOf(taken), unit: "kB/min", aim: "about 0" },
    { what: `${what}: DOM nodes, first`, value: first.nodes, unit: "", aim: "reported" },
    { what: `${what}: DOM nodes, last`, value: last.nodes, unit: "", aim: "the same" },
  ];
}

async function sample(session: CDPSession): Promise<Sample> {
  // The second one frees objects that finalizers of the first released.
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const { nodes } = await session.send("Memory.getDOMCounters");
  return { atMs: performance.now(), usedKb: usedSize / KB, nodes };
}

/** Returns the least-squares slope in kB per minute. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const minutes = samples.map(({ atMs }) => atMs / 60_000);
  const [x, y] = [mean(minutes), mean(samples.map(({ usedKb }) => usedKb))];
  const shared = mean(samples.map(({ usedKb }, at) => ((minutes[at] ?? x) - x) * (usedKb - y)));
  return shared / mean(minutes.map((minute) => (minute - x) ** 2));
}
