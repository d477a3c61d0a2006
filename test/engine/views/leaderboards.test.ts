import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { Snapshot } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { address, candle, drive, MINUTE, profile, START } from "../trend-kit.ts";

const RECORDED = { trades: false, liquidity: false, listings: false, profiles: true };
const WINDOW = 360;

/** Creates flat candles, one a minute, from minute `from` to before `to`. */
function flat(n: number, from: number, to: number): MarketEvent[] {
  const minutes = Array.from({ length: to - from }, (_, minute) => from + minute);
  return [
    profile(START, address(n)),
    ...minutes.map((minute) => candle(START + (minute + 1) * MINUTE, address(n), 1, 1)),
  ];
}

/** Returns the time trended by address at each minute in which the leaderboard changed. */
function run(events: readonly MarketEvent[], minutes: number) {
  const board: ReadonlyMap<string, { time: number; position: number }>[] = [];
  const engine = new TrendEngine({ facts: RECORDED });
  for (let minute = 0; minute <= minutes; minute++) {
    const at = START + minute * MINUTE;
    const snapshot = drive(engine, [
      ...events.filter((event) => event.at === at || (minute === 0 && event.at < at)),
      { kind: "clock", at },
    ]);
    Snapshot.parse(snapshot);
    board.push(
      new Map(
        snapshot.leaderboards.bsc.map((entry) => [
          entry.object.token.address,
          { time: entry.time_trended, position: entry.average_position },
        ]),
      ),
    );
  }
  return board;
}

test("time_trended counts the minutes in the chart within six hours and shrinks as they expire", () => {
  const board = run([...flat(1, 0, WINDOW + 100), ...flat(2, 0, 10)], WINDOW + 100);
  const time = (n: number, minute: number) => board[minute]?.get(address(n))?.time;
  // A chart needs five candles, so the first chart is at minute 5 and one minute old at minute 6.
  expect([time(1, 5), time(1, 6), time(1, 65)]).toEqual([undefined, 60, 3_600]);
  expect([time(1, WINDOW + 4), time(1, WINDOW + 5), time(1, WINDOW + 6)]).toEqual([21_540, 21_600, 21_600]);
  // The second token is silent from minute 10. It is charted from minute 5 to 17, while three of
  // the last ten minutes have a candle.
  expect([time(2, 18), time(2, 19), time(2, WINDOW + 5)]).toEqual([780, 780, 780]);
  expect([time(2, WINDOW + 6), time(2, WINDOW + 7), time(2, WINDOW + 17)]).toEqual([720, 660, 60]);
  expect(time(2, WINDOW + 18)).toBeUndefined();
});

test("the average position is the mean rank while charted and breaks ties of time", () => {
  const risers = [1, 2].flatMap((n) => [
    profile(START, address(n)),
    ...Array.from({ length: 20 }, (_, minute) =>
      candle(START + (minute + 1) * MINUTE, address(n), 1, 1 + (n * minute) / 10_000),
    ),
  ]);
  const board = run([...risers, ...flat(3, 0, 20)], 20);
  expect([...(board[20] ?? [])]).toEqual([
    [address(2), { time: 900, position: 1 }],
    [address(1), { time: 900, position: 2 }],
    [address(3), { time: 900, position: 3 }],
  ]);
});
