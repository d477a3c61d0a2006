import fc from "fast-check";
import { expect, test } from "vitest";
import type { Flare } from "../../../src/base/model/index.ts";
import { formAlert } from "../../../src/extensions/alerts/alert.ts";
import { createRuleJudge } from "../../../src/extensions/alerts/rules/rule-judge.ts";
import { NEW_RULE } from "../../../src/extensions/alerts/rules/rule-state.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../support/world/samples.ts";
import { Flares, reported, ruleOf, START } from "./judged-flares.ts";

test("a start is reported with the event that a stream sends, and its finish is reported", () => {
  const flares = new Flares();
  const judge = createRuleJudge(ruleOf({}), NEW_RULE);
  const started = flares.start("ONE", 0);
  expect(judge.take(started)).toEqual([
    {
      type: "flare-started",
      key: started.cursor,
      data: { event: started },
      page: "flare/ONE",
    },
  ]);
  expect(reported(judge, [flares.finish("ONE", 60)])).toEqual(["flare-finished"]);
});

test("during a token's quiet time its starts and their finishes are suppressed; other tokens are reported", () => {
  const flares = new Flares();
  const judge = createRuleJudge(ruleOf({ quiet_seconds: 600 }), NEW_RULE);
  const messages = [
    flares.start("ONE", 0),
    flares.finish("ONE", 60),
    flares.start("ONE2", 120),
    flares.start("TWO", 130),
    flares.finish("ONE2", 599),
    flares.start("ONE3", 600),
    flares.finish("TWO", 601),
    flares.finish("ONE3", 660),
  ];
  expect(reported(judge, messages)).toEqual([
    "flare-started",
    "flare-finished",
    "",
    "flare-started",
    "",
    "flare-started",
    "flare-finished",
    "flare-finished",
  ]);
});

test("tokens with the same address on two chains have separate quiet times", () => {
  const [bsc, matic] = [new Flares(), new Flares("flares.matic.pro")];
  const judge = createRuleJudge(
    ruleOf({ channels: ["flares.pro", "flares.matic.pro"], quiet_seconds: 600 }),
    NEW_RULE,
  );
  const messages = [
    bsc.start("ONE", 0),
    matic.start("ONE2", 1),
    matic.start("ONE3", 2),
    matic.start("ONE4", 601),
    bsc.start("ONE5", 601),
  ];
  expect(reported(judge, messages)).toEqual([
    "flare-started",
    "flare-started",
    "",
    "flare-started",
    "flare-started",
  ]);
});

test.each([0, 600])(
  "with a quiet time of %i s, a start and a finish on several of a rule's channels are reported once",
  (quiet_seconds) => {
    const [pro, free, finished] = (["flares.pro", "flares.free", "flares.finished"] as const).map(
      (channel) => new Flares(channel),
    );
    const judge = createRuleJudge(ruleOf({ channels: ["flares.*"], quiet_seconds }), NEW_RULE);
    const messages = [
      pro?.start("ONE", 0),
      free?.start("ONE", 300),
      ...[pro, free, finished].map((list) => list?.finish("ONE", 900)),
      ...[pro, finished].map((list) => list?.finish("TWO", 900)),
      finished?.finish("ONE", 901),
    ].filter((message) => message !== undefined);
    const [started, ended] = ["flare-started", "flare-finished"];
    expect(reported(judge, messages)).toEqual([started, "", ended, "", "", ended, "", ended]);
  },
);

test.each([0, 600])(
  "with a quiet time of %i s, a flare that passes the filter only when it enters `free` is reported then, once",
  (quiet_seconds) => {
    const [pro, free] = [new Flares("flares.pro"), new Flares("flares.free")];
    const rule = ruleOf({ channels: ["flares.*"], filter: { min_liquidity: 20 }, quiet_seconds });
    const judge = createRuleJudge(rule, NEW_RULE);
    expect(reported(judge, [pro.start("ONE", 0), free.start("TWO", 300)])).toEqual([
      "flare-started",
      "flare-started",
    ]);
    // It left the list because of a warning, and returns. A restart forgets nothing of this.
    const later = createRuleJudge(rule, judge.state);
    const messages = [
      free.start("ONE", 1_000),
      free.start("TWO", 1_000),
      ...[pro, free].map((list) => list.finish("TWO", 1_100)),
    ];
    expect(reported(later, messages)).toEqual(["", "", "flare-finished", ""]);
  },
);

test("a rule without the list `pro` reports the starts of `free`", () => {
  const free = new Flares("flares.free");
  const judge = createRuleJudge(ruleOf({ channels: ["flares.free", "flares.exchange.pro"] }), NEW_RULE);
  expect(reported(judge, [free.start("ONE", 300)])).toEqual(["flare-started"]);
});

const EDGE = { edge: { field: "liquidity", above: 20, below: 10, on: "both" } };

test("an item rises at `above` and falls at `below`, and changes in between cause no alert", () => {
  const flares = new Flares();
  const judge = createRuleJudge(ruleOf(EDGE), NEW_RULE);
  judge.begin(
    { flares: { pro: [] }, explanations: {} },
    { cursor: "test1-0", observed_at: "2026-01-01T00:00:00.000Z" },
    false,
  );
  const messages = [
    flares.start("ONE", 0, "19.9"),
    flares.set("ONE", 1, "20"),
    flares.set("ONE", 2, "11"),
    flares.set("ONE", 3, "25"),
    flares.set("ONE", 4, "10"),
    flares.set("ONE", 5, "15"),
    flares.set("ONE", 6, "21"),
    flares.finish("ONE", 7),
    flares.start("ONE", 8, "30"),
  ];
  expect(reported(judge, messages)).toEqual([
    "",
    "edge-rose",
    "",
    "",
    "edge-fell",
    "",
    "edge-rose",
    "",
    "edge-rose",
  ]);
});

test("an edge alert has the value, both levels, and the item with its explanation", () => {
  const flares = new Flares();
  const judge = createRuleJudge(ruleOf(EDGE), NEW_RULE);
  judge.begin(
    { flares: { pro: [] }, explanations: {} },
    { cursor: "test1-0", observed_at: "2026-01-01T00:00:00.000Z" },
    true,
  );
  const started = flares.start("ONE", 0, "30");
  expect(judge.take(started)[0]?.data).toMatchObject({
    field: "liquidity",
    value: 30,
    above: 20,
    below: 10,
    channel: "flares.pro",
    cursor: started.cursor,
    item: { id: "ONE", liquidity: "30" },
    why: SAMPLE_EXPLANATION,
  });
});

test("a resumed rule reports rises and falls that it missed; a new rule ignores items that are already high", () => {
  const at = { cursor: "test1-9", observed_at: "2026-01-01T00:00:00.000Z" };
  const up = { ...SAMPLE_FLARE, id: "UP", liquidity: "30" };
  const view = { flares: { pro: [up] }, explanations: {} };
  expect(createRuleJudge(ruleOf(EDGE), NEW_RULE).begin(view, at, false)).toEqual([]);
  expect(createRuleJudge(ruleOf(EDGE), NEW_RULE).begin(view, at, true)).toMatchObject([
    { type: "edge-rose" },
  ]);
  const before = createRuleJudge(ruleOf(EDGE), NEW_RULE);
  before.begin(view, at, false);
  const after = createRuleJudge(ruleOf(EDGE), JSON.parse(JSON.stringify(before.state)));
  expect(after.begin(view, at, true)).toEqual([]);
  const fallen = { flares: { pro: [{ ...up, liquidity: "5" }] }, explanations: {} };
  expect(createRuleJudge(ruleOf(EDGE), before.state).begin(fallen, at, true)).toMatchObject([
    { type: "edge-fell" },
  ]);
});

test("an item that left the list while the rule was stopped alerts when it returns above the level", () => {
  const flares = new Flares();
  const at = { cursor: "test1-0", observed_at: "2026-01-01T00:00:00.000Z" };
  const before = createRuleJudge(ruleOf(EDGE), NEW_RULE);
  before.begin({ flares: { pro: [] }, explanations: {} }, at, false);
  expect(reported(before, [flares.start("ONE", 0, "30"), flares.start("TWO", 0, "30")])).toEqual([
    "edge-rose",
    "edge-rose",
  ]);
  const after = createRuleJudge(ruleOf(EDGE), JSON.parse(JSON.stringify(before.state)));
  const two = { ...SAMPLE_FLARE, id: "TWO", liquidity: "30" };
  expect(after.begin({ flares: { pro: [two] }, explanations: {} }, at, true)).toEqual([]);
  expect(reported(after, [flares.start("ONE", 9, "30"), flares.set("TWO", 9, "40")])).toEqual([
    "edge-rose",
    "",
  ]);
});

test("with on: fall, only falls alert", () => {
  const flares = new Flares();
  const judge = createRuleJudge(ruleOf({ edge: { ...EDGE.edge, on: "fall" } }), NEW_RULE);
  judge.begin(
    { flares: { pro: [] }, explanations: {} },
    { cursor: "test1-0", observed_at: "2026-01-01T00:00:00.000Z" },
    false,
  );
  const messages = [
    flares.start("ONE", 0, "5"),
    flares.set("ONE", 1, "25"),
    flares.set("ONE", 2, "5"),
    flares.set("ONE", 3, "4"),
  ];
  expect(reported(judge, messages)).toEqual(["", "", "edge-fell", ""]);
});

test("for any values and a restart, rises and falls alternate, rises at `above` or more and falls at `below` or less", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 60 }), fc.nat(59), (values, cut) => {
      const flares = new Flares();
      const at = { cursor: "test1-0", observed_at: "2026-01-01T00:00:00.000Z" };
      let judge = createRuleJudge(ruleOf(EDGE), NEW_RULE);
      let last: Flare = { ...SAMPLE_FLARE, id: "ONE", liquidity: "0" };
      judge.begin({ flares: { pro: [last] }, explanations: {} }, at, false);
      const alerts: [string, number][] = [];
      for (const [index, value] of values.entries()) {
        if (index === cut) {
          // As in a new process, with the stored state and the current lists.
          judge = createRuleJudge(ruleOf(EDGE), JSON.parse(JSON.stringify(judge.state)));
          alerts.push(
            ...judge
              .begin({ flares: { pro: [last] }, explanations: {} }, at, true)
              .map(({ type }): [string, number] => [type, Number(last.liquidity)]),
          );
        }
        last = { ...last, liquidity: String(value) };
        alerts.push(
          ...judge
            .take(flares.set("ONE", index, String(value)))
            .map(({ type }): [string, number] => [type, value]),
        );
      }
      for (const [index, [type, value]] of alerts.entries()) {
        expect(type).toBe(index % 2 === 0 ? "edge-rose" : "edge-fell");
        if (type === "edge-rose") expect(value).toBeGreaterThanOrEqual(20);
        else expect(value).toBeLessThanOrEqual(10);
      }
      const expected = values.reduce((high, value) => (high ? value > 10 : value >= 20), false);
      expect(alerts.length % 2 === 1).toBe(expected);
    }),
  );
});

test("a rule with a quiet time on several flare channels forgets finished flares", () => {
  const [pro, free] = [new Flares(), new Flares("flares.free")];
  const judge = createRuleJudge(ruleOf({ channels: ["flares.*"], quiet_seconds: 600 }), NEW_RULE);
  for (let second = 0; second < 100; second += 1) {
    judge.take(pro.start(`A${second}`, second));
    judge.take(free.start(`A${second}`, second));
    const ends = [pro, free].flatMap((list) => judge.take(list.finish(`A${second}`, second + 1)));
    // The later flares started in the quiet time of the first.
    expect(ends).toHaveLength(second === 0 ? 1 : 0);
  }
  expect(judge.state.begun).toHaveLength(0);
});

test("an alert about a flare has its page's URL if the server's public URL is known", () => {
  const flares = new Flares();
  const news = createRuleJudge(ruleOf({}), NEW_RULE).take(flares.start("ONE", 0));
  const judge = createRuleJudge(ruleOf({ edge: { field: "liquidity", above: 5, below: 1 } }), NEW_RULE);
  judge.begin(
    { flares: { pro: [] }, explanations: {} },
    { cursor: "test1-1", observed_at: new Date(START).toISOString() },
    true,
  );
  const edges = judge.take(flares.start("TWO", 1, "9"));
  const urlOf = (content: (typeof news)[number] | undefined, publicUrl?: string) =>
    content && JSON.parse(formAlert("desk", "rule", content, START, publicUrl).body).data.url;
  expect(urlOf(news[0], "https://a.example/b")).toBe("https://a.example/b/flare/ONE");
  expect(urlOf(edges[0], "https://a.example")).toBe("https://a.example/flare/TWO");
  expect(urlOf(news[0])).toBeUndefined();
  expect(
    urlOf({ ...news[0], type: "alerts-lost", key: "x", data: {}, page: undefined }, "https://a.example"),
  ).toBeUndefined();
});
