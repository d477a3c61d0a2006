import { expect, test } from "vitest";
import { MarketEvent } from "../../src/base/market/index.ts";
import type { Feed } from "../../src/gateway/source/feed.ts";

/** Maximum delay of an event. An engine rejects later ones. */
const LATE_MS = 5_000;
const MAX_EVENTS = 20_000;

/**
 * Tests that apply to every feed.
 * @param open Creates a feed at full speed, with the same events each time.
 */
export function feedContract(name: string, open: () => Feed): void {
  /** Returns the first events of a run, then leaves it. */
  const firstEvents = async (feed: Feed) => {
    const events: MarketEvent[] = [];
    for await (const event of feed.events(new AbortController().signal)) {
      events.push(event);
      if (events.length === MAX_EVENTS) break;
    }
    return events;
  };

  test(`${name}: every event is a valid market event, in order of time, with a clock at least every second`, async () => {
    const events = await firstEvents(open());
    expect(events.length).toBeGreaterThan(100);
    expect(events.filter((event) => !MarketEvent.safeParse(event).success)).toEqual([]);
    let clockAt: number | undefined;
    for (const event of events) {
      if (clockAt !== undefined) expect(event.at).toBeGreaterThanOrEqual(clockAt - LATE_MS);
      if (event.kind !== "clock") continue;
      if (clockAt !== undefined) {
        expect(event.at).toBeGreaterThan(clockAt);
        expect(event.at - clockAt).toBeLessThanOrEqual(1_000);
      }
      clockAt = event.at;
    }
    expect(clockAt).toBeDefined();
  });

  test(`[L4] ${name}: two runs have the same events`, async () => {
    const [first, second] = [await firstEvents(open()), await firstEvents(open())];
    expect(second).toEqual(first);
  });

  test(`${name}: the iteration ends soon after its signal aborts, and a second one is rejected`, async () => {
    const feed = open();
    const stop = new AbortController();
    let received = 0;
    const reading = (async () => {
      for await (const _event of feed.events(stop.signal)) {
        received += 1;
        if (received === 50) stop.abort(new Error("enough"));
      }
    })();
    await reading.catch((error: unknown) => expect(error).toBe(stop.signal.reason));
    expect(received).toBeGreaterThanOrEqual(50);
    const again = async () => {
      for await (const _event of feed.events(new AbortController().signal)) return;
    };
    await expect(again()).rejects.toThrow();
  });
}
