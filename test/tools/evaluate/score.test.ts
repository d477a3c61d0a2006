import { expect, test } from "vitest";
import { MILLISECONDS, poolScores, scoreEpisodes } from "./score.ts";
import { matchRate } from "./thresholds.ts";

const episode = (pair: string, startAt: number, endAt: number) => ({ pair, startAt, endAt });

test("a flare counts from the episode's start to five minutes after its end", () => {
  const fired = (startAt: number) =>
    scoreEpisodes([episode("A", 100, 120)], [episode("A", startAt, startAt + 30)]).fired;
  expect([100, 119, 124].map(fired)).toEqual([1, 1, 1]);
  expect([60, 125, 400].map(fired)).toEqual([0, 0, 0]);
});

test("an episode inside a running flare is excluded and counted; another pair's flare does not matter", () => {
  const episodes = [episode("A", 100, 120), episode("B", 100, 120), episode("C", 100, 120)];
  const score = scoreEpisodes(episodes, [
    episode("A", 90, 130),
    episode("B", 102, 140),
    episode("D", 90, 130),
  ]);
  expect(score).toMatchObject({ n: 2, leftOut: 1, fired: 0.5 });
});

test("a delay of candles includes the minute that had to end first; a delay of event time does not", () => {
  const spans = [episode("A", 100, 120)];
  expect(scoreEpisodes(spans, [episode("A", 102, 130)]).delayP50).toBe(3);
  const late = [episode("A", 60_000, 600_000)];
  expect(scoreEpisodes(late, [episode("A", 75_000, 900_000)], MILLISECONDS).delayP50).toBe(15_000);
});

test("further starts within the episode and the hour after it count as flaps", () => {
  const flares = [
    episode("A", 101, 112),
    episode("A", 115, 130),
    episode("A", 179, 190),
    episode("A", 180, 200),
  ];
  expect(scoreEpisodes([episode("A", 100, 120)], flares).flaps).toBe(2);
});

test("pooling weighs each seed by its episodes", () => {
  const score = (n: number, fired: number) => ({
    n,
    leftOut: 1,
    fired,
    delayP50: n,
    delayP90: n,
    endP50: 6,
    endP90: 7,
    flaps: 0,
  });
  expect(poolScores([score(1, 1), score(3, 0)])).toMatchObject({ n: 4, leftOut: 2, fired: 0.25 });
});

test("the matched threshold is the lowest whose rate does not exceed the target", () => {
  const range = { low: 1, high: 100, steps: 20 };
  expect(matchRate(0.5, range, (threshold) => 10 / threshold)).toBeCloseTo(20, 3);
  expect(matchRate(0, range, () => 1)).toBe(100);
});
