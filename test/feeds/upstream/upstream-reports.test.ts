import { expect, test } from "vitest";
import { type UpstreamReport, UpstreamReports } from "../../../src/feeds/upstream/upstream-reports.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

/** Creates reports of items, in responses of at most 20, and records which are passed on. */
function createScene() {
  const clock = new ManualClock();
  const passed: UpstreamReport[] = [];
  const reports = new UpstreamReports(clock, (report) => passed.push(report));
  const report = (key: string, reason = "is wrong") => {
    const before = passed.length;
    reports.add("invalidItems", { list: "flares.pro", key, path: "liquidity", reason, action: "kept" });
    return passed.length - before;
  };
  return { clock, reports, report, passed };
}

test("a report is passed on again after ten minutes, to the millisecond, and counted each time", () => {
  const { clock, reports, report } = createScene();
  const passedOn = [0, 0, 599_999, 1, 599_999, 1].map((passMs) => {
    clock.advance(passMs);
    reports.startAnswer();
    return report("a");
  });
  expect(passedOn).toEqual([1, 0, 0, 1, 0, 1]);
  expect(reports.counts).toEqual({ invalidItems: 6, duplicates: 0, invalidLists: 0, overlong: 0 });
});

test("at most 20 reports per response are passed on, without counting those that were passed on recently", () => {
  const { reports, report } = createScene();
  reports.startAnswer();
  report("known");
  reports.startAnswer();
  report("known");
  const passedOn = Array.from({ length: 30 }, (_, at) => report(`item ${at}`));
  expect(passedOn).toEqual([...Array(20).fill(1), ...Array(10).fill(0)]);
  reports.startAnswer();
  expect([report("item 25"), report("item 3")]).toEqual([1, 0]);
});

test("only the last 1,000 are stored, which limits the memory that untrusted input takes", () => {
  const { reports, report } = createScene();
  const add = (key: string) => {
    reports.startAnswer();
    return report(key);
  };
  add("first");
  for (let at = 1; at < 1_000; at += 1) add(`item ${at}`);
  expect(add("first")).toBe(0);
  add("one more");
  expect([add("first"), add("item 500")]).toEqual([1, 0]);
});

test("untrusted text is cut to 200 characters in each report", () => {
  const { reports, report, passed } = createScene();
  reports.startAnswer();
  report("k".repeat(10_000), "r".repeat(10_000));
  expect(passed).toEqual([expect.objectContaining({ key: "k".repeat(200), reason: "r".repeat(200) })]);
});
