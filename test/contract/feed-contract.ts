import { expect, test } from "vitest";
import type { Feed } from "../../src/feed/index.ts";
import { MarketEvent } from "../../src/market/index.ts";

/** So late an event may come: beyond it an engine would not take it. */
const LATE_MS = 5_000;
const MAX_EVENTS = 20_000;

/**
 * What every feed keeps to. `open` makes a new one, at full speed, that tells the same each time.
 */
export function feedContract(name: string, open: () => Feed): void {
  /** The first events of a run, after which it is left. */
  const some = async (feed: Feed) => {
    const events: MarketEvent[] = [];
    for await (const event of feed.events(new AbortController().signal)) {
      events.push(event);
      if (events.length === MAX_EVENTS) break;
    }
    return events;
  };

  test(`${name}: every event is a market event, in the order of time, with a clock at least every second`, async () => {
    const events = await some(open());
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

  test(`[L4] ${name}: its events are the same each time`, async () => {
    const [first, second] = [await some(open()), await some(open())];
    expect(second).toEqual(first);
  });

  test(`${name}: it ends soon after its signal aborts, and cannot be iterated twice`, async () => {
    const feed = open();
    const stop = new AbortController();
    let reported = 0;
    const reading = (async () => {
      for await (const _event of feed.events(stop.signal)) {
        reported += 1;
        if (reported === 50) stop.abort(new Error("enough"));
      }
    })();
    await reading.catch((error: unknown) => expect(error).toBe(stop.signal.reason));
    expect(reported).toBeGreaterThanOrEqual(50);
    const again = async () => {
      for await (const _event of feed.events(new AbortController().signal)) return;
    };
    await expect(again()).rejects.toThrow();
  });
}
