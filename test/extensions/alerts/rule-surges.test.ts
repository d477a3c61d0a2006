import { expect, test } from "vitest";
import { createRuleJudge } from "../../../src/extensions/alerts/rules/rule-judge.ts";
import { NEW_RULE } from "../../../src/extensions/alerts/rules/rule-state.ts";
import { Flares, reported, ruleOf } from "./judged-flares.ts";

test("[W45] a surge is reported with its event and page, once for all channels, and also if the start was before the rule", () => {
  const [pro, free] = [new Flares(), new Flares("flares.free")];
  const judge = createRuleJudge(ruleOf({ channels: ["flares.*"] }), NEW_RULE);
  const surged = free.surge("ONE", 60);
  expect(judge.take(surged)).toEqual([
    { type: "flare-surged", key: surged.cursor, data: { event: surged }, page: "flare/ONE" },
  ]);
  const messages = [
    pro.surge("ONE", 60),
    pro.surge("TWO", 60),
    free.surge("ONE", 61, 2),
    pro.surge("ONE", 61, 2),
    pro.finish("ONE", 61),
  ];
  expect(reported(judge, messages)).toEqual(["", "flare-surged", "flare-surged", "", "flare-finished"]);
});

test("[W45] the surges of a reported flare are reported in its quiet time; those of a suppressed flare only after it, with its finish", () => {
  const flares = new Flares();
  const judge = createRuleJudge(ruleOf({ quiet_seconds: 600 }), NEW_RULE);
  const messages = [
    flares.start("ONE", 0),
    flares.surge("ONE", 60),
    flares.finish("ONE", 90),
    flares.start("ONE2", 120),
    flares.surge("ONE2", 599),
    flares.surge("ONE2", 600, 2),
    flares.surge("ONE2", 601, 3),
    flares.start("ONE3", 1_199),
    flares.finish("ONE2", 1_199),
  ];
  expect(reported(judge, messages)).toEqual([
    "flare-started",
    "flare-surged",
    "flare-finished",
    "",
    "",
    "flare-surged",
    "flare-surged",
    "",
    "flare-finished",
  ]);
});

test("[W45] a surge or a finish of a flare whose start the rule did not get is reported in the quiet time", () => {
  const flares = new Flares();
  const judge = createRuleJudge(ruleOf({ quiet_seconds: 600 }), NEW_RULE);
  const messages = [
    flares.start("ONE", 0),
    flares.finish("ONE", 90),
    flares.surge("ONE2", 120),
    flares.surge("ONE2", 180, 2),
    flares.finish("ONE2", 240),
  ];
  const types = ["flare-started", "flare-finished", "flare-surged", "flare-surged", "flare-finished"];
  expect(reported(judge, messages)).toEqual(types);
});
