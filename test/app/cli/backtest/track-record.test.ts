import { expect, test } from "vitest";
import { describeRecord, TrackRecorder } from "../../../../src/app/cli/backtest/track-record.ts";
import { EMPTY_SNAPSHOT, RecordFigures } from "../../../../src/base/model/index.ts";
import { SAMPLE_EXCHANGE_FLARE } from "../../../support/world/samples.ts";

const control = { n: 4, rose: 0.5, q1: -1, median: 0, q3: 1 };

function recordOf(unknown: number, rugs: number): RecordFigures {
  return RecordFigures.parse({
    flares: 5,
    ended_by_canary: rugs,
    canary_share: rugs / 5,
    collapsed: 0,
    warned: 0,
    warning_s: { q1: null, median: null, q3: null },
    after: [{ ...control, minutes: 60, n: 5 - unknown, unknown, control }],
  });
}

test("the record's first line counts the flares without a final outcome, if there are any", () => {
  const first = (pending?: number) => describeRecord(recordOf(0, 1), pending).split("\n")[0];
  expect(first()).toBe("5 flares with an outcome, 1 possible rug");
  expect(first(2)).toBe("5 flares with an outcome, 1 possible rug; 2 left out: outcome not final at the end");
});

test("running flares of every group are pending", () => {
  const recorder = new TrackRecorder();
  const lists = { free: [], pro: [SAMPLE_EXCHANGE_FLARE], finished_trending: [] };
  recorder.note({ ...EMPTY_SNAPSHOT, "flares.exchange": lists });
  expect(recorder.pending).toBe(1);
});

test("the record says how many flares a line leaves out, and that they may be rugs", () => {
  const counts = ([unknown, rugs]: readonly number[]) =>
    describeRecord(recordOf(unknown ?? 0, rugs ?? 0)).match(/after 60 min.*\((.*)\)/)?.[1];
  expect(
    [
      [0, 1],
      [2, 0],
      [2, 1],
    ].map(counts),
  ).toEqual(["n 5 of 5", "n 3 of 5; 2 left out: no trades", "n 3 of 5; 2 left out: no trades, perhaps rugs"]);
});
