import { expect, onTestFinished, test, vi } from "vitest";

interface Feed {
  now(): object;
  start(): void;
  stop(): void;
}

// A file for browsers: the tests are checked without their types.
const path = "../../../src/clients/widget/shared-feed.ts";
const { SharedFeed }: { readonly SharedFeed: new (server: string, changed: () => void) => Feed } =
  await import(path);
const SERVER = "http://127.0.0.1:9/";
const NAME = `flarewire-widget/2 ${SERVER}`;
const ABOUT = { state: "live", origin: "simulated" };
const BEAT_MS = 5_000;

/** Starts the feed of a tab while another one, which the test plays, has the connection. */
async function secondTab() {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout", "performance"] });
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: false }));
  const first = new BroadcastChannel(NAME);
  const stop = new AbortController();
  const leads = Promise.withResolvers<void>();
  const lock = navigator.locks.request(NAME, () => {
    leads.resolve();
    return new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
  });
  let isReplaced = false;
  const over = lock.catch(() => {
    isReplaced = true;
  });
  await leads.promise;
  let shown = Promise.withResolvers<void>();
  const feed = new SharedFeed(SERVER, () => shown.resolve());
  onTestFinished(async () => {
    feed.stop();
    stop.abort();
    await over;
    first.close();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  feed.start();
  return {
    feed,
    over,
    /** Sends a message of the first tab. Resolves when the second one has it. */
    say: async (message: object) => {
      shown = Promise.withResolvers();
      first.postMessage(message);
      await shown.promise;
    },
    isReplaced: async () => {
      await navigator.locks.query();
      return isReplaced;
    },
  };
}

test("a second tab leaves the connection to the first one as long as that one sends messages", async () => {
  const { feed, say, isReplaced } = await secondTab();
  for (let beat = 0; beat < 12; beat++) {
    await say({ about: ABOUT });
    vi.advanceTimersByTime(BEAT_MS);
    expect(await isReplaced(), `after ${beat} beats`).toBe(false);
  }
  expect(feed.now()).toEqual({ view: undefined, ...ABOUT });
});

test("a second tab takes the connection over from one that sends nothing for half a minute", async () => {
  const { say, isReplaced, over, feed } = await secondTab();
  await say({ about: ABOUT });
  vi.advanceTimersByTime(2 * BEAT_MS);
  expect(await isReplaced()).toBe(false);
  vi.advanceTimersByTime(4 * BEAT_MS);
  await over;
  expect(await isReplaced()).toBe(true);
  feed.stop();
});
