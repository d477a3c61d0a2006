import { test as base, expect, vi } from "vitest";
import type { FlareLists } from "../../../src/clients/dashboard/state/group/flare-lists.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../support/world/samples.ts";

// The path is not a literal, so that the check of the tests does not need the types of a browser.
const FILE = "../../../src/clients/dashboard/state/alerts/page-alerts.ts";
const { PageAlerts }: { readonly PageAlerts: new (server: URL, key: undefined) => Alerts } = await import(
  FILE
);
interface Alerts {
  reset(group: "bsc", lists: FlareLists, isStart: boolean): void;
}

const SERVER = new URL("http://127.0.0.1/below/");
const PAGE = "http://127.0.0.1/below/token/bsc/0x1";
const LISTS: FlareLists = {
  explanations: { [SAMPLE_FLARE.id]: SAMPLE_EXPLANATION },
  flares: { pro: [SAMPLE_FLARE] },
};

/** What alerts need of a browser with a page below `/token/`. Its tabs share the locks. */
const test = base.extend<{ browser: { readonly asked: string[]; failures: number } }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires the pattern.
  browser: async ({}, use) => {
    const seen = { asked: [] as string[], failures: 0 };
    const held = new Set<string>();
    const resolve = (url: string | URL) => new URL(url, PAGE).pathname;
    const registration = {
      showNotification: async (title: string, { icon }: { readonly icon: string }) => {
        if (seen.failures-- > 0) throw new Error("no notification");
        seen.asked.push(`${title} with ${resolve(icon)}`);
      },
    };
    const serviceWorker = {
      register: async (url: string | URL) => void seen.asked.push(resolve(url)),
      ready: Promise.resolve(registration),
    };
    const request = async (name: string, _: object, hold: (lock: object | null) => Promise<void>) => {
      if (held.has(name)) return hold(null);
      held.add(name);
      await hold({});
      held.delete(name);
    };
    vi.useFakeTimers();
    vi.stubGlobal("isSecureContext", true);
    vi.stubGlobal("addEventListener", () => {});
    vi.stubGlobal("Notification", { permission: "granted" });
    vi.stubGlobal("navigator", { locks: { request }, serviceWorker });
    vi.stubGlobal("document", { title: "Flarewire", hidden: false, addEventListener: () => {} });
    vi.stubGlobal("localStorage", {
      getItem: (name: string) =>
        name === "flarewire-alerts" ? `{"entries":[{"query":""}],"isNotified":true}` : null,
    });
    await use(seen);
    vi.unstubAllGlobals();
    vi.useRealTimers();
  },
});

/** Opens a tab, then shows it a new flare. */
function alertTab(): void {
  const alerts = new PageAlerts(SERVER, undefined);
  alerts.reset("bsc", { explanations: {}, flares: { pro: [] } }, true);
  alerts.reset("bsc", LISTS, false);
}

test("a page below the root shows a notification with the worker and the icon of the server's root", async ({
  browser,
}) => {
  alertTab();
  await vi.waitFor(() =>
    expect(browser.asked).toEqual(["/below/worker.js", "UNI is flaring with /below/icon-192.png"]),
  );
});

test("if a tab fails to show a notification, another open tab shows it, once", async ({ browser }) => {
  browser.failures = 1;
  for (const _ of [1, 2, 3]) alertTab();
  await vi.waitFor(() => expect(browser.failures).toBe(0));
  await vi.advanceTimersByTimeAsync(10_000);
  const shown = () => browser.asked.filter((text) => text.includes("is flaring"));
  await vi.waitFor(() => expect(shown()).toHaveLength(1));
  expect(shown()).toEqual(["UNI is flaring with /below/icon-192.png"]);
});
