import { expect, test } from "vitest";
import type { Explanation, Flare, Snapshot } from "../../../src/base/model/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { explanation, flare, snapshotOf } from "../../gateway/source/sample-snapshots.ts";
import type { JsonObject } from "./json.ts";
import { Line } from "./line.ts";

const CHANNELS = ["flares.free", "flares.pro"];
const surged = (number: number): Explanation =>
  explanation({ surge: { number, at: "2017-11-12T08:30:00.000Z", price: "0.3", score: 6.5 } });
const listed = (pct: number, why: Explanation): Snapshot => {
  const one: Flare = flare("BCC", { recent_price_change: pct });
  return snapshotOf({ free: [one], pro: [one] }, { BCC: why });
};
const START = listed(12, explanation());
const PLAY = [listed(20, surged(1)), listed(21, surged(1)), listed(30, surged(3))];

/** Returns the fault of a line that receives the events of {@link PLAY}, each changed. */
function faultAfter(change: (event: JsonObject, at: number) => JsonObject = (event) => event) {
  const line = new Line({ name: "a", transport: "poll", shapes: {}, query: {} });
  line.receive({ type: "subscribed", channels: CHANNELS, resumed: "reset", cursor: "e-0", snapshot: START });
  let [before, seq] = [START, 0];
  for (const after of PLAY) {
    for (const event of toEvents(before, after, 0)) {
      seq += 1;
      const place = { type: "event", cursor: `e-${seq}`, seq, prev: seq - 1 };
      line.receive(JSON.parse(JSON.stringify(change({ ...place, ...event }, seq))));
    }
    before = after;
  }
  return line.fault;
}
const withData = (more: object) => (event: JsonObject, at: number) =>
  at === 5 ? { ...event, data: { ...Object(event.data), ...more } } : event;

test("[W45] a line accepts the surges of a flare in two lists", () => {
  expect(faultAfter()).toBeUndefined();
});

test.for([
  ["another surge than the explanation's", withData({ surge: surged(2).surge }), "3 at why.surge/number"],
  ["an older form of the flare", withData({ flare: flare("BCC") }), "30 at flare/recent_price_change"],
  ["another flare", withData({ flare: flare("NEO") }), "at id"],
  ["a number that falls", withData({ why: surged(0), surge: surged(0).surge }), "surge 2 or a later one"],
  ["the same number again", withData({ why: surged(1), surge: surged(1).surge }), "surge 2 or a later one"],
  [
    "an update with a new surge",
    (event: JsonObject, at: number) => (at === 5 ? { ...event, name: "flare-updated" } : event),
    "flare-surged with surge 3",
  ],
] as const)("[W45] a line reports %s", ([, change, expected]) => {
  expect(faultAfter(change)).toMatchObject({ rules: ["W45"], expected: expect.stringContaining(expected) });
});

test("[W45] a line reports a surge of a flare that is not listed", () => {
  const fault = faultAfter((event, at) =>
    at === 3
      ? { ...event, name: "flare-withdrawn", data: { op: "remove", id: Object(event.data).id } }
      : event,
  );
  expect(fault).toMatchObject({ rules: ["applying-events"] });
});
