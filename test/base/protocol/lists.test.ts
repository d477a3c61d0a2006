import { expect, test } from "vitest";
import { type Explanation, flaresKeyOf, OTHER_CHAINS, type Snapshot } from "../../../src/base/model/index.ts";
import {
  advanceLists,
  CHANNELS,
  compileFilter,
  EMPTY_SNAPSHOT,
  type Filter,
  formatMarks,
  LIST_CHANNEL_NAMES,
  type Lists,
  listOf,
  listsOf,
  MarksText,
  projectLists,
  readMarks,
} from "../../../src/base/protocol/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { explanation, flare, snapshotOf } from "../../gateway/source/sample-snapshots.ts";
import { SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";

const AT = Date.UTC(2017, 10, 12, 8, 21);
const ADDRESS = "0xAbCdEf0123456789aBcDeF0123456789ABCDEF01";

/** A flare with these values. Its token has a mixed-case address, as in explorers. */
const flareAt = (fields: Partial<ReturnType<typeof flare>> = {}) => {
  const made = flare("BCC", fields);
  return { ...made, token: { ...made.token, address: ADDRESS, symbol: "BcC" } };
};

/** Returns the lists after these successive states of `flares.pro`; `undefined`: empty. */
function listsAfter(...states: readonly (ReturnType<typeof flare> | undefined)[]): Lists {
  return states.reduce((lists, state) => {
    const next = snapshotOf({ pro: state ? [state] : [] });
    return toEvents(lists.snapshot, next, AT).reduce(advanceLists, lists);
  }, listsOf(EMPTY_SNAPSHOT));
}

const holds = (lists: Lists, filter: Filter) =>
  listOf(projectLists(lists, CHANNELS, compileFilter(filter)), "flares.pro").length === 1;

test.for([
  ["its price change", { recent_price_change: 20 }, { recent_price_change: -30 }, { min_price_change: 20 }],
  ["its liquidity", { liquidity: "5000" }, { liquidity: "10" }, { min_liquidity: 5_000 }],
] as const)(
  "[W28] a sticky filter keeps an item that once met it by %s until it leaves, even after marks are stored and read",
  ([, high, low, least]) => {
    const [risen, fallen] = [flareAt(high), flareAt(low)];
    const sticky: Filter = { ...least, sticky: true };
    // One value may fall while another rises.
    const other = { liquidity: "90000", recent_price_change: 90, ...low };
    const rose = listsAfter(fallen, risen, flareAt(other), fallen);
    for (const lists of [rose, readMarks(rose.snapshot, formatMarks(rose))])
      expect([holds(lists, sticky), holds(lists, least)]).toEqual([true, false]);
    expect(holds(listsAfter(fallen), sticky)).toBe(false);
    // An item that leaves and returns starts over.
    expect(holds(listsAfter(risen, undefined, fallen), sticky)).toBe(false);
  },
);

test("[W27] addresses and symbols are compared ignoring case", () => {
  const lists = listsAfter(flareAt());
  const written = (text: string) => [text, text.toLowerCase(), text.toUpperCase().replace(/^0X/, "0x")];
  for (const address of written(ADDRESS)) expect(holds(lists, { tokens: [address] }), address).toBe(true);
  for (const symbol of written("BcC")) expect(holds(lists, { symbols: [symbol] }), symbol).toBe(true);
  expect(holds(lists, { tokens: [`${ADDRESS}0`] })).toBe(false);
  expect(holds(lists, { symbols: ["bc"] })).toBe(false);
});

test("[W27] [W40] an item at exactly the minimum meets the filter, one just below does not", () => {
  const lists = listsAfter(flareAt({ liquidity: "5000.01", recent_price_change: -4.5 }));
  expect(holds(lists, { min_liquidity: 5_000.01 })).toBe(true);
  expect(holds(lists, { min_liquidity: "5000.0101" })).toBe(false);
  expect(holds(lists, { min_price_change: -4.5 })).toBe(true);
  expect(holds(lists, { min_price_change: -4.49 })).toBe(false);
});

test("[W27] a flare meets `min_age` by the age in its explanation, now and after marks are stored and read", () => {
  const agedLists = (age_s: number | null | undefined) => {
    const next = snapshotOf({ pro: [flareAt()] }, { BCC: explanation(age_s === undefined ? {} : { age_s }) });
    return toEvents(EMPTY_SNAPSHOT, next, AT).reduce(advanceLists, listsOf(EMPTY_SNAPSHOT));
  };
  const aged = agedLists(600);
  for (const lists of [aged, readMarks(aged.snapshot, formatMarks(aged))])
    for (const sticky of [true, false]) {
      expect(holds(lists, { min_age: 600, sticky })).toBe(true);
      expect(holds(lists, { min_age: 600.5, sticky })).toBe(false);
    }
  for (const unknown of [agedLists(null), agedLists(undefined), listsAfter(flareAt())])
    expect(holds(unknown, { min_age: 0 })).toBe(false);
});

test("[W27] a flare meets `min_locked` by what is burned, or locked for more than an hour", () => {
  const flareAt0 = (locked: Explanation["locked"]) => {
    const why = explanation({ at: "2017-11-12T08:00:00.000Z", locked });
    const next = snapshotOf({ pro: [flareAt()] }, { BCC: why });
    return toEvents(EMPTY_SNAPSHOT, next, AT).reduce(advanceLists, listsOf(EMPTY_SNAPSHOT));
  };
  const share = (locked: Explanation["locked"]) =>
    [0, 0.25, 0.5, 0.75].findLast((min_locked) => holds(flareAt0(locked), { min_locked }));
  expect(share({ burned: 0.25, held: 0.5, until: "2017-11-12T09:00:00.001Z" })).toBe(0.75);
  expect(share({ burned: 0.25, held: 0.5, until: "2017-11-12T09:00:00.000Z" })).toBe(0.25);
  expect(share({ burned: 0.25, held: 0.5, until: null })).toBe(0.25);
  expect(share({ burned: 0, held: 0, until: null })).toBe(0);
  for (const unknown of [null, undefined]) expect(share(unknown)).toBeUndefined();
});

test("[W40] a flare whose lock ends stays with `sticky`, also after marks are stored and read", () => {
  const [locked, free] = [0.9, 0].map((burned) =>
    snapshotOf({ pro: [flareAt()] }, { BCC: explanation({ locked: { burned, held: 0, until: null } }) }),
  );
  let lists = listsOf(EMPTY_SNAPSHOT);
  for (const next of [locked, free])
    if (next) lists = toEvents(lists.snapshot, next, AT).reduce(advanceLists, lists);
  for (const now of [lists, readMarks(lists.snapshot, formatMarks(lists))]) {
    expect(holds(now, { min_locked: 0.9, sticky: true })).toBe(true);
    expect(holds(now, { min_locked: 0.9 })).toBe(false);
  }
});

test("[W28] the marks of every channel's items are the same after they are stored and read", () => {
  const { "flares.matic": matic } = SAMPLE_SNAPSHOT;
  const others = OTHER_CHAINS.map((group) => {
    const flares = matic.pro.map((one) => ({ ...one, group }));
    return [flaresKeyOf(group), { free: flares, pro: flares, finished_trending: flares }];
  });
  const snapshot: Snapshot = { ...SAMPLE_SNAPSHOT, ...Object.fromEntries(others) };
  const { marks } = listsOf(snapshot);
  const known = LIST_CHANNEL_NAMES.map((channel) => {
    const widened = [...marks[channel]].map(([key, own]) => {
      const highest = { ...own.highest, min_price_change: 900, min_liquidity: 9e9 };
      return [key, { ...own, tokens: [...own.tokens, "0xbefore"], highest }] as const;
    });
    expect(widened.length, channel).toBeGreaterThan(0);
    return [channel, new Map(widened)] as const;
  });
  const lists: Lists = { snapshot, marks: { ...marks, ...Object.fromEntries(known) } };
  const read = readMarks(snapshot, MarksText.parse(JSON.parse(JSON.stringify(formatMarks(lists)))));
  for (const channel of LIST_CHANNEL_NAMES)
    expect(read.marks[channel], channel).toEqual(lists.marks[channel]);
});
