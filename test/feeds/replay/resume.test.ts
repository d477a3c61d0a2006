import fc from "fast-check";
import { expect } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { gzip, HEADER, LeapingClock, line, MINUTE, only, replay, T0, test } from "./replay-kit.ts";

const trade = (at: number) => ({
  kind: "trade",
  at,
  group: "bsc",
  pool: "p",
  token: `0x${"ab".repeat(20)}`,
  side: "buy",
  price: "1",
  amount: "1",
  quoteUsd: "1",
  trader: "w",
});

/** Two pairs with gaps. After the longest one, the pairs' profiles are emitted again. */
const CANDLES = [
  HEADER,
  line(0),
  line(1, "BTC_BBB"),
  line(2),
  line(3),
  line(400),
  line(401, "BTC_BBB"),
  line(402),
];

/** Trades, some of them late, and clocks that are not at whole seconds. */
const TRADES = [0, 400, 1_000, 700, 2_500, 2_600, 9_300, 8_000, 12_000].map((ms) => trade(T0 + ms));
const CLOCKS = [2_550, 9_300].map((ms) => ({ kind: "clock", at: T0 + ms }));

const RECORDINGS: Readonly<Record<string, string | Buffer>> = {
  candles: gzip(CANDLES),
  trades: `${[
    ...TRADES.slice(0, 5),
    ...CLOCKS.slice(0, 1),
    ...TRADES.slice(5, 7),
    ...CLOCKS.slice(1),
    ...TRADES.slice(7),
  ]
    .map((event) => JSON.stringify(event))
    .join("\n")}\n`,
};

for (const [name, content] of Object.entries(RECORDINGS)) {
  test(`[L4] a replay of ${name} that resumes after any clock, in any lap, emits the same events`, async ({
    write,
  }) => {
    const path = write(content);
    const lapEvents = (await replay(path)).events.length + 2;
    const whole = (await replay(path, { loop: true }, lapEvents * 4)).events;
    const clocks = whole.flatMap((event, index) => (event.kind === "clock" ? [index] : []));
    await fc.assert(
      fc.asyncProperty(fc.nat(clocks.length - 1), async (pick) => {
        const index = clocks[pick] ?? 0;
        const afterMs = whole[index]?.at ?? 0;
        const most = Math.min(2_000, whole.length - index - 1);
        if (most === 0) return;
        const { events } = await replay(path, { loop: true, resume: { afterMs, catchUpToMs: 0 } }, most);
        expect(events).toEqual(whole.slice(index + 1, index + 1 + most));
      }),
      lawRuns(name === "trades" ? 30 : 6),
    );
  });
}

test("a resumed replay without loop ends with the recording, and emits nothing after its last clock", async ({
  write,
}) => {
  const path = write(CANDLES);
  const { events: whole } = await replay(path);
  const last = whole.at(-1)?.at ?? 0;
  const resumed = await replay(path, { resume: { afterMs: last - 1_000, catchUpToMs: last } });
  expect(resumed).toMatchObject({ events: whole.slice(-2), error: undefined });
  expect((await replay(path, { resume: { afterMs: last, catchUpToMs: last } })).events).toEqual([]);
});

test("earlier events run at full speed, later ones are paced, and the warm-up is not repeated", async ({
  write,
}) => {
  const path = write([HEADER, ...Array.from({ length: 30 }, (_, minute) => line(minute))]);
  const first = T0 + MINUTE;
  const paced = async (warmupMs: number, catchUpToMs: number) => {
    const clock = new LeapingClock();
    const slept: [number, number][] = [];
    const resume = { afterMs: first + 5 * MINUTE, catchUpToMs };
    const feed = new ReplayFeed({ path, speed: 60, warmupMs, resume, clock });
    const events: MarketEvent[] = [];
    for await (const event of feed.events(new AbortController().signal)) {
      events.push(event);
      slept.push([event.at, clock.mono]);
    }
    expect(only("candle", events).length).toBe(24);
    return slept.find(([, mono]) => mono > 0)?.[0];
  };
  // The first paced event comes a second after the end of the catch-up.
  expect(await paced(0, first + 10 * MINUTE)).toBe(first + 10 * MINUTE + 1_000);
  expect(await paced(15 * MINUTE, first + 10 * MINUTE)).toBe(first + 15 * MINUTE + 1_000);
  expect(await paced(0, 0)).toBe(first + 5 * MINUTE + 2_000);
});
