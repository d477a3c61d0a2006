import { expect, test } from "vitest";
import {
  describeGap,
  filledShare,
  isOld,
  judge,
  withGroup,
} from "../../../src/clients/dashboard/state/judge.ts";
import type { Seen } from "../../../src/clients/dashboard/state/seen.ts";
import type { DataFreshness, View } from "../../../src/clients/sdk/index.ts";

const VIEW: View = { explanations: {} };

function seen(
  connection: Seen["connection"]["state"],
  freshness: DataFreshness["state"],
  more: Partial<Seen> = {},
): Seen {
  return {
    view: VIEW,
    lists: VIEW,
    connection: { state: connection, transport: "websocket", reason: "" },
    freshness: { state: freshness, reason: "", ageMs: 0, observedAt: null },
    isOffline: false,
    awayMs: 0,
    access: null,
    cursor: undefined,
    events: [],
    news: [],
    count: 0,
    changes: 0,
    gaps: [],
    refused: undefined,
    pace: undefined,
    ...more,
  };
}

test.each([
  ["live", "live", "good", "online", false],
  ["live", "stale", "bad", "stale", true],
  ["live", "down", "bad", "source down", true],
  ["waiting", "live", "wait", "reconnecting", false],
  ["connecting", "stale", "wait", "reconnecting", false],
  ["paused", "live", "wait", "paused", false],
  ["closed", "live", "bad", "refused", true],
] as const)(
  "with a connection that is %s and a source that is %s, the mood is %s, the word is %s, and the page is gray: %s",
  (connection, freshness, mood, word, old) => {
    expect(judge(seen(connection, freshness))).toEqual({ mood, word });
    expect(isOld(seen(connection, freshness))).toBe(old);
  },
);

test("a browser without a network is shown as offline at once, although its connection is still open", () => {
  const one = seen("live", "live", { isOffline: true });
  expect([judge(one), isOld(one)]).toEqual([{ mood: "bad", word: "offline" }, true]);
});

test("a disconnected page turns gray unless it has no data or was rejected; a rejected one says if a key is needed", () => {
  expect(isOld(seen("waiting", "live", { awayMs: 1 }))).toBe(true);
  expect(isOld(seen("waiting", "stale", { awayMs: 1, view: undefined }))).toBe(false);
  expect(isOld(seen("closed", "live", { awayMs: 1, refused: "no key" }))).toBe(false);
  const refusedBy = (code: number) => {
    const one = seen("closed", "live", { refused: "no" });
    return judge({ ...one, connection: { ...one.connection, code } }).word;
  };
  expect([401, 4003, 403].map(refusedBy)).toEqual(["key needed", "key needed", "refused"]);
  expect([judge(undefined).word, judge(seen("waiting", "live", { view: undefined })).word]).toEqual([
    "connecting",
    "connecting",
  ]);
});

test("[W44] the page shows that the stream of the shown group is interrupted although its own is live", () => {
  const whole = seen("live", "live");
  const of = (state: Seen["connection"]["state"], awayMs: number, lists: View | Error | undefined) => {
    const { connection, freshness } = seen(state, "live");
    return withGroup(whole, { connection, freshness, awayMs, lists });
  };
  expect([judge(of("waiting", 0, VIEW)).word, of("waiting", 5_000, VIEW)?.awayMs]).toEqual([
    "reconnecting",
    5_000,
  ]);
  expect(judge(of("connecting", 5_000, undefined)).word).toBe("reconnecting");
  // A first connection, a rejection (which the list reports) and a live one are no interruption.
  for (const group of [of("connecting", 0, undefined), of("closed", 5_000, new Error()), of("live", 0, VIEW)])
    expect(group).toBe(whole);
  const away = seen("waiting", "live", { awayMs: 9_000 });
  expect(withGroup(away, undefined)).toBe(away);
});

test("a gap has its reason and the maximum number of missed events, if known", () => {
  expect([null, 0, 1, 2].map((lost) => describeGap({ reason: "expired", lost }))).toEqual([
    "expired: an unknown number of events",
    "expired: up to 0 events",
    "expired: up to 1 event",
    "expired: up to 2 events",
  ]);
});

test("the share of the past that is read is that of all parts which still read, and unknown without one", () => {
  const idle = { name: "exchange", state: "live", reason: "", observed_at: null, data_age_ms: 0 } as const;
  const part = (read_ms: number, of_ms: number) => ({ ...idle, filling: { read_ms, of_ms } });
  expect(filledShare({ parts: [part(30, 60), part(30, 140), idle] })).toBe(0.3);
  expect(filledShare({ parts: [idle] })).toBeUndefined();
  expect(filledShare({ parts: [part(0, 0)] })).toBeUndefined();
  expect(filledShare({})).toBeUndefined();
  expect(filledShare(undefined)).toBeUndefined();
});
