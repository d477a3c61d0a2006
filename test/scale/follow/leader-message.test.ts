import { expect, test } from "vitest";
import { LIST_CHANNEL_NAMES, LIST_CHANNELS, listOf } from "../../../src/base/protocol/index.ts";
import { readLeaderMessage } from "../../../src/scale/follow/leader-message.ts";
import { SAMPLE_FLARE, SAMPLE_LISTING, SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";
import { BEGUN } from "./scripted-leader.ts";

const IN_AVALANCHE = { ...SAMPLE_FLARE, group: "avalanche" } as const;

const read = (message: object) => readLeaderMessage(JSON.stringify(message));

test("[F2] the response to a new mirror is parsed with its lists and a position for every channel", () => {
  const message = read(BEGUN);
  expect(message).toMatchObject({
    type: "reset",
    cursor: { epoch: "abcd", seq: 5 },
    base: { positions: { status: 5, "newest.bsc": 2, "flares.pro": 0 } },
  });
});

test.for([
  [
    "an item twice",
    { snapshot: { ...BEGUN.snapshot, newest: { bsc: [SAMPLE_LISTING, SAMPLE_LISTING] } } },
    "its list newest.bsc contains an item twice",
  ],
  ["a cursor after its latest event", { cursor: "abcd-6" }, "its latest event is 5, but its cursor is 6"],
  ["a cursor before its latest event", { cursor: "abcd-4" }, "its latest event is 5, but its cursor is 4"],
] as const)("[F7] a base is refused that has %s", ([, fields, reason]) => {
  expect(() => read({ ...BEGUN, ...fields })).toThrow(reason);
});

test("[F7] a base is refused that has an item twice in the list of any channel", () => {
  for (const channel of LIST_CHANNEL_NAMES) {
    const [resource, list] = LIST_CHANNELS[channel];
    const [item = IN_AVALANCHE] = listOf(SAMPLE_SNAPSHOT, channel);
    const snapshot = {
      ...BEGUN.snapshot,
      [resource]: { ...Object(BEGUN.snapshot)[resource], [list]: [item, item] },
    };
    expect(() => read({ ...BEGUN, snapshot }), channel).toThrow(`its list ${channel} contains an item twice`);
  }
});
