import type { Locator, Page } from "playwright-core";
import { beforeEach, describe, expect } from "vitest";
import type { ConnectionHandle } from "../gateway/http/stream/websocket-fixture.ts";
import type { HubUnderTest } from "../gateway/hub/hub-fixture.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { COLOR_RULES, findViolations } from "./axe.ts";
import { findChromium } from "./chromium.ts";
import { PAGES, test } from "./docs-fixture.ts";
import { lendPage } from "./shared-page.ts";

/** Pages that are opened on a phone: every page in `npm run soak`. */
const ON_PHONE = PAGES.filter((_, at) => IS_SOAK || at % 16 === 0);
const PHONE = { width: 360, height: 740 };
/** Returns words in tables that are broken over lines. Code may break except in column one. */
const BROKEN_WORDS = `[...document.querySelectorAll("main table:not(.fields) tr > *")].flatMap((cell) => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (cell !== cell.parentNode.firstElementChild && node.parentNode.closest("code")) continue;
    for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{N}.]+/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
    }
  }
  return broken;
})`;
/** A hostile token name. */
const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

describe.skipIf(findChromium() === undefined)("the documents in Chromium", () => {
  let page: Page;
  /** Console output and errors. */
  let pageErrors: string[];
  let asked: URL[];

  beforeEach(async ({ onTestFinished }) => {
    pageErrors = [];
    asked = [];
    page = await lendPage(onTestFinished);
    page.on("console", (message) => pageErrors.push(message.text()));
    page.on("pageerror", (error) => pageErrors.push(error.message));
    page.on("request", (request) => asked.push(new URL(request.url())));
    page.on("websocket", (socket) => asked.push(new URL(socket.url())));
  });

  const open = (wire: ConnectionHandle, path: string) => page.goto(`http://127.0.0.1:${wire.port}${path}`);
  /** Checks that nothing was blocked, failed, or sent to another server. */
  const expectQuiet = (wire: ConnectionHandle) => {
    expect(pageErrors).toEqual([]);
    expect(asked.length).toBeGreaterThan(2);
    expect([...new Set(asked.map(({ host }) => host))]).toEqual([`127.0.0.1:${wire.port}`]);
  };
  const tryForm = (address: string) => page.locator(`form.try[aria-label="Try ${address}"]`);
  const says = (text: string | RegExp) => page.locator("#state").filter({ hasText: text }).waitFor();
  const logged = (text: string | RegExp) =>
    page.locator("#log li").filter({ hasText: text }).first().waitFor();

  test("a request is sent with the keyboard alone, shows its response headers, and gets 304 when repeated", async ({
    wire,
  }) => {
    await wire.publish("list", "flare");
    await open(wire, "/docs/rest/get-flares");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to content");
    await page.keyboard.press("Enter");
    for (let presses = 0; (await focused()) !== "Try"; presses += 1) {
      expect(presses, "presses of Tab up to the first form").toBeLessThan(60);
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    const form = tryForm("/api/v1/flares");
    await form
      .locator("output")
      .filter({ hasText: /^200 OK/ })
      .waitFor();
    expect(await body(form).textContent()).toContain('"symbol": "T');
    expect(await fields(form).textContent()).toContain("flarewire-cursor: test1-2");
    await page.keyboard.press("Enter");
    await form.locator("output").filter({ hasText: /^304/ }).waitFor();
    expectQuiet(wire);
  });

  const body = (form: Locator) => form.locator("> pre");
  const fields = (form: Locator) => form.locator("[data-fields] pre");
  const focused = () =>
    page.evaluate(() => Reflect.get(globalThis, "document").activeElement.textContent as string);

  // `npm test` tries one transport without a key, the other with one.
  for (const transport of ["websocket", "events"] as const) {
    test.runIf(IS_SOAK || transport === "events")(
      `a stream over ${transport} opens, shows its messages, the newest first, and closes`,
      async ({ wire }) => {
        await open(wire, "/docs/events");
        await page.locator("#transport").selectOption(transport);
        await page.getByRole("button", { name: "Connect", exact: true }).press("Enter");
        await says("Connected.");
        await logged("subscribed · reset");
        await wire.publish("list");
        await logged(/token-listed · newest\.bsc/);
        expect(await page.locator("#log li").first().textContent()).toContain("token-listed");
        const send = page.getByRole("button", { name: "Send" });
        if (transport === "websocket") {
          await send.press("Enter");
          await logged("pong");
        } else expect(await send.isDisabled()).toBe(true);
        await page.locator("#disconnect").press("Enter");
        await says("Disconnected.");
        await wire.sessions(0);
        expectQuiet(wire);
      },
    );

    test.runIf(IS_SOAK || transport === "websocket")(
      `[K1] [K4] with a key a stream over ${transport} has the plan's channels, and the key appears in no URL`,
      async ({ keyed }) => {
        const { wire } = keyed;
        await open(wire, "/docs/events");
        await page.locator("#transport").selectOption(transport);
        await page.locator("summary", { hasText: "Parameters" }).first().click();
        await page.locator("#stream-channels").fill("flares.pro");
        const connect = page.getByRole("button", { name: "Connect", exact: true });
        await connect.click();
        await says(/^Refused with 403/);
        // The browser reports rejected requests, which are not errors of the page.
        pageErrors.length = 0;
        await page.locator("#key").fill(keyed.secret("pro"));
        for (const _twice of [1, 2]) {
          await connect.click();
          await says("Connected.");
          await logged("subscribed · reset");
          await page.locator("#clear").click();
        }
        await wire.publish("flare");
        await logged(/flare-started · flares\.pro/);
        expectQuiet(wire);
        expect(asked.filter(({ href }) => href.includes(keyed.secret("pro").slice(12)))).toEqual([]);
      },
    );
  }

  test("[K1] with a key a request shows the response of its plan, and with an unknown key the reason for the rejection", async ({
    keyed,
  }) => {
    const { wire } = keyed;
    await open(wire, "/docs/rest/get-flares");
    const form = tryForm("/api/v1/flares");
    await form.getByText("Parameters and key").click();
    const answer = async (status: RegExp) => {
      await form.getByRole("button", { name: "Try" }).click();
      await form.locator("output").filter({ hasText: status }).waitFor();
      return `${await fields(form).textContent()}${await body(form).textContent()}`;
    };
    expect(await answer(/^200/)).toContain("flarewire-plan: free");
    await page.locator("#key").fill(keyed.secret("pro"));
    const field = form.locator('[name="If-None-Match"]');
    await field.fill("");
    await page.locator("#key").press("Enter");
    expect(page.url()).toBe(`http://127.0.0.1:${wire.port}/docs/rest/get-flares`);
    await form.getByRole("button", { name: "Try" }).click();
    await fields(form).filter({ hasText: "flarewire-plan: pro" }).waitFor({ state: "attached" });
    expectQuiet(wire);
    await page.locator("#key").fill("fw_nobody");
    expect(await answer(/^401/)).toContain("unauthorized");
    expect(asked.filter(({ href }) => /fw_|key=/.test(href))).toEqual([]);
  });

  test("untrusted text is shown as text, and runs nothing", async ({ wire }) => {
    await open(wire, "/docs/events");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await logged("subscribed");
    await publishHostile(wire);
    await logged("token-listed");
    await page.locator("#log li summary").first().click();
    expect(await page.locator("#log li").first().textContent()).toContain("<img src=x onerror=");
    await open(wire, "/docs/rest/get-newest");
    const form = tryForm("/api/v1/newest");
    await form.getByRole("button", { name: "Try" }).click();
    await body(form).filter({ hasText: "<img src=x onerror=" }).waitFor();
    expect(await page.title()).not.toContain("owned");
    expect(await page.locator("img").count()).toBe(0);
    expectQuiet(wire);
  });

  test("/ focuses the search, which finds operations by parameter, and Enter opens one", async ({ wire }) => {
    await open(wire, "/docs/guides");
    await page.keyboard.press("/");
    await page.keyboard.type("min_liquidity stream");
    const found = page.locator("#search ol a");
    await found.filter({ hasText: "/api/v1/stream" }).first().waitFor();
    await page.locator("#search-text").fill("unheard-of thingamajig");
    await page.locator("#search output", { hasText: "Nothing found." }).waitFor();
    await page.locator("#search-text").fill("flare");
    await page.locator("#search output", { hasText: /^\d\d+ found; the best 12 are below$/ }).waitFor();
    expect(await found.count()).toBe(12);
    await page.locator("#search-text").fill("GET /api/v1/history");
    await found.filter({ hasText: "history" }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.locator("h1", { hasText: "/api/v1/history" }).waitFor();
    await page.locator("#search-text").fill("flare-finished");
    await found.filter({ hasText: "flare-finished" }).first().click();
    await page.locator("#message-flare-finished[open]").waitFor();
    await page.locator("#message-flare-finished a", { hasText: "FlareFinishedMessage" }).first().waitFor();
    expect(await page.locator("details.fold[open]").count()).toBe(1);
    expectQuiet(wire);
  });

  test("on a phone the search ranks an exact name first, and shows the text that contains a word", async ({
    wire,
  }) => {
    await page.setViewportSize(PHONE);
    await open(wire, "/docs");
    const found = page.locator("#search li").first();
    for (const name of ["--data", "FLAREWIRE_DATA", "data"]) {
      await page.locator("#search-text").fill(name);
      await found.locator('a[href$="/docs/settings#about-data"]').waitFor();
    }
    await page.locator("#search-text").fill("retention");
    const [line, mark] = [found.locator("> small"), found.locator("mark")];
    await line.filter({ hasText: /By default, the log has the events/ }).waitFor();
    expect(await mark.textContent()).toBe("Retention");
    expect(await widths()).toEqual({ page: PHONE.width, beyond: [] });
    expectQuiet(wire);
  });

  test("the search shows a table row with spaces between its cells, and marks the found word", async ({
    wire,
  }) => {
    await open(wire, "/docs");
    for (const [word, row] of [
      ["4003", "4003 unauthorized stop"],
      ["unauthorized", "4003 unauthorized stop"],
      ["slow", "4201 slow-consumer resume"],
      ["heartbeat-lost", "4202 heartbeat-lost resume"],
    ] as const) {
      await page.locator("#search-text").fill(word);
      const found = page.locator('#search li:has(a[href="/docs/events#codes"])');
      const line = found.locator("> small", { hasText: row });
      await line.waitFor();
      expect(await line.locator("mark").textContent()).toBe(word);
    }
    expectQuiet(wire);
  });

  test("the search finds key combinations, and ranks an exact path first", async ({ wire }) => {
    await open(wire, "/docs");
    for (const [typed, href] of [
      ["Ctrl-C", "/docs/operating#stop"],
      ["/api/v1/flares/{id}", "/docs/rest/get-flare"],
      ["ctrl+c", "/docs/operating#stop"],
      ["/flare/{id}", "/docs/dashboard#tokens"],
    ]) {
      await page.locator("#search-text").fill(typed ?? "");
      await page.locator("#search li").first().locator(`a[href$="${href}"]`).waitFor();
    }
    await page.locator("#search-text").fill("problem+json");
    await page.locator("#search mark", { hasText: "problem+json" }).first().waitFor();
  });

  test("each search result has an excerpt, and a found word is not broken", async ({ wire }) => {
    await open(wire, "/docs");
    await page.locator("#search-text").fill("python");
    const found = page.locator("#search li");
    await found.nth(5).locator("> small").waitFor();
    await expect.poll(() => page.locator("#search li:not(:has(> small))").count()).toBe(0);
    await page.locator("#search-text").fill("--data");
    await page
      .locator("#search mark", { hasText: /^--data$/ })
      .first()
      .waitFor();
    const lines = `[...document.querySelectorAll("#search mark")].map((mark) => mark.getClientRects().length)`;
    for (let width = 320; width <= 400; width += 4) {
      await page.setViewportSize({ width, height: 740 });
      expect(new Set((await page.evaluate(lines)) as number[]), `${width}`).toEqual(new Set([1]));
    }
    expectQuiet(wire);
  });

  test("the map marks the current section and page", async ({ wire }) => {
    await open(wire, "/docs/protocol");
    const marked = () => page.locator('#map [aria-current="location"]');
    for (const at of [3, 1]) {
      const link = page.locator("#map .sections a").nth(at);
      await link.click();
      const hash = await link.getAttribute("href");
      await page.locator(`#map .sections a[href="${hash}"][aria-current="location"]`).waitFor();
      expect(await marked().count()).toBe(1);
    }
    expect(await page.locator('#map [aria-current="page"]').textContent()).toBe("Protocol");
    expectQuiet(wire);
  });

  test("axe finds no problem with sample pages in either theme, and none is wider than the screen from 320 to 1440", async ({
    wire,
  }) => {
    // Longer pages have the same parts.
    for (const path of ["/docs", `/docs/rest/get-${IS_SOAK ? "history" : "pairlist"}`]) {
      await page.emulateMedia({ colorScheme: "light" });
      await open(wire, path);
      for (const width of [768, 1_440, 320]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await widths(), `${path} ${width}`).toEqual({ page: width, beyond: [] });
      }
      // `npm test` checks only the page with forms.
      if (path === "/docs" && !IS_SOAK) continue;
      expect(await findViolations(page), path).toEqual([]);
      await page.setViewportSize({ width: 1_440, height: 800 });
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await findViolations(page, IS_SOAK ? undefined : COLOR_RULES), `${path}, dark`).toEqual([]);
    }
  });

  test("on a phone no page is wider than the screen, even with all details open", async ({ wire }) => {
    await page.setViewportSize(PHONE);
    await publishHostile(wire);
    for (const path of ON_PHONE) {
      await open(wire, path);
      await page.evaluate(() => {
        for (const part of Reflect.get(globalThis, "document").querySelectorAll("details")) part.open = true;
      });
      expect(await widths(), path).toEqual({ page: PHONE.width, beyond: [] });
    }
    await open(wire, "/docs/events");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await logged("subscribed");
    await page.locator("#log li summary").last().click();
    const shown = page.locator("#log pre:visible");
    await page.keyboard.press("Tab");
    expect(await shown.evaluate("document.activeElement?.closest('#log pre')?.ariaLabel")).toContain("hello");
    await page.keyboard.press("End");
    await expect.poll(() => shown.evaluate((one) => one.scrollTop)).toBeGreaterThan(0);
    expect(await widths()).toEqual({ page: PHONE.width, beyond: [] });
    await open(wire, "/docs/rest/get-newest");
    const form = tryForm("/api/v1/newest");
    await form.getByRole("button", { name: "Try" }).click();
    await body(form).filter({ hasText: "<img" }).waitFor();
    expect(await widths()).toEqual({ page: PHONE.width, beyond: [] });
    expectQuiet(wire);
  });

  test("on a phone no table breaks a word or a number, and a table that scrolls is reachable by keyboard", async ({
    wire,
  }) => {
    await page.setViewportSize(PHONE);
    for (const path of ["/docs/codes", "/docs/operating", "/docs/flares"]) {
      await open(wire, path);
      expect(await page.evaluate(BROKEN_WORDS), path).toEqual([]);
    }
    // The last page has a table of many numbers.
    await page.locator('.wide[tabindex="0"]').first().focus();
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Table");
    await page.setViewportSize({ width: 1_440, height: 800 });
    await expect.poll(() => page.locator(".wide[tabindex]").count()).toBe(0);
  });

  /** Returns the page's width, and the elements that overflow without scrolling. */
  const widths = () =>
    page.evaluate(() => {
      const document = Reflect.get(globalThis, "document");
      const { clientWidth, scrollWidth } = document.documentElement;
      const wide = [...document.querySelectorAll("main *")].filter(
        (one) => one.getBoundingClientRect().right > clientWidth + 1 && !one.closest(".wide, pre"),
      );
      return { page: scrollWidth, beyond: wide.map((one) => one.outerHTML.slice(0, 120)) };
    });
});

/** Publishes the listing of a token with a hostile name. */
async function publishHostile(wire: HubUnderTest): Promise<void> {
  const polled = wire.market.poll(["list"]);
  const hostile = JSON.stringify(polled, (name, value) =>
    name === "token" ? { ...value, name: HOSTILE, symbol: HOSTILE } : value,
  );
  await wire.head.publish({ observedAtMs: 1_000, ...(JSON.parse(hostile) as typeof polled) });
}
