import { expect, test } from "vitest";
import { OTHER_GROUPS } from "../../../src/base/model/index.ts";
import { CHANNELS, channelsOfPlan, snapshotOfPlan } from "../../../src/base/protocol/index.ts";
import { explanation, flare, flareId, snapshotOf } from "../../gateway/source/sample-snapshots.ts";

const [aged, young, ended] = [flare("AGED"), flare("YOUNG"), flare("ENDED")];
const why = explanation();
const SNAPSHOT = snapshotOf(
  { free: [aged], pro: [aged, young], finished: [ended] },
  { AGED: why, YOUNG: why, ENDED: why },
);

test("[K2] the plan free sees an empty list flares.pro, and no explanation of a flare that is only in that list", () => {
  const shown = snapshotOfPlan(SNAPSHOT, "free");
  expect(shown.flares).toEqual({ free: [aged], pro: [], finished_trending: [ended] });
  expect(Object.keys(shown.explanations).toSorted()).toEqual([flareId("AGED"), flareId("ENDED")].toSorted());
  expect(JSON.stringify(shown)).not.toContain(young.id);
});

test("[K2] the plan free lacks the channel pro of each group, and the candles", () => {
  const lacking = CHANNELS.filter((channel) => !channelsOfPlan("free").includes(channel));
  expect(lacking).toEqual(["flares.pro", ...OTHER_GROUPS.map((group) => `flares.${group}.pro`), "candles"]);
});

test("[K2] the plan pro, and an open server, show everything", () => {
  for (const plan of ["pro", undefined] as const) expect(snapshotOfPlan(SNAPSHOT, plan)).toBe(SNAPSHOT);
});
