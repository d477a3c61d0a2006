import type { Browser } from "playwright-core";
import { findChromium, launch } from "../../../browser/chromium.ts";
import { serveSite } from "../../../browser/widget-site.ts";
import type { Row } from "../report.ts";
import { mainThreadRows, traceMainThread } from "./main-thread.ts";
import { startTicking } from "./ticking-gateway.ts";

const FLARES = 200;
const SIZES = {
  full: { forMs: 10_000, tabs: 10, pages: 4 },
  short: { forMs: 500, tabs: 3, pages: 1 },
} as const;
/** Factor of the slowdown to a phone's processor. */
const SLOWDOWN = 4;
const TOKEN = `0x${"0".repeat(40)}`;
const PAGES = {
  "ticker, list of 10 and badge": `<flare-ticker></flare-ticker><flare-list></flare-list><flare-badge token="${TOKEN}"></flare-badge>`,
  ticker: "<flare-ticker></flare-ticker>",
  "ticker that does not move": "<flare-ticker still></flare-ticker>",
  "list of 100": '<flare-list limit="100"></flare-list>',
} as const;

/**
 * Measures three things: the widget's cost on another site's page with a slow processor and 200
 * flares, while 20 flares change each second; its size; and the connections of ten tabs.
 */
export async function benchWidget(size: keyof typeof SIZES): Promise<Row[]> {
  const executable = findChromium();
  if (executable === undefined)
    throw new Error("install Debian's chromium: there is no browser to measure in");
  const { forMs, tabs, pages } = SIZES[size];
  const browser = await launch(executable);
  try {
    const rows: Row[] = [];
    for (const [name, elements] of Object.entries(PAGES).slice(0, pages)) {
      await using server = await startTicking(FLARES, 1);
      await using site = await serveSite(server.url, elements);
      const page = await browser.newPage({ viewport: { width: 390, height: 780 } });
      await page.goto(site.url);
      await page.locator("[state=live]").first().waitFor();
      const session = await page.context().newCDPSession(page);
      await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
      rows.push(
        ...mainThreadRows(
          `${name}, ${SLOWDOWN} times slower`,
          await traceMainThread(browser, page, forMs),
          true,
        ),
      );
      await page.close();
    }
    return [...rows, ...(await steadyRows(browser, tabs))];
  } finally {
    await browser.close();
  }
}

/**
 * Returns the rows that do not depend on speed: the script's size, and the connections of this many
 * tabs.
 */
async function steadyRows(browser: Browser, tabs: number): Promise<Row[]> {
  await using server = await startTicking(FLARES, 1);
  await using site = await serveSite(server.url, "<flare-list></flare-list>");
  const context = await browser.newContext();
  for (let tab = 0; tab < tabs; tab++) {
    const page = await context.newPage();
    await page.goto(site.url);
    await page.locator("[state=live] [part=row]").first().waitFor();
  }
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const opened = /^flarewire_connections_opened_total\{transport="websocket"\} (\d+)$/m.exec(metrics)?.[1];
  await context.close();
  const { headers } = await fetch(`${server.url}/widget.js`, { headers: { "accept-encoding": "gzip" } });
  const bytes = Number(headers.get("content-length"));
  return [
    {
      what: "widget.js, with the client in it, as sent (gzip)",
      value: bytes / 1_000,
      unit: "kB",
      aim: "≤ 10",
    },
    { what: `connections that ${tabs} tabs opened`, value: Number(opened), unit: "", aim: "1" },
  ];
}
