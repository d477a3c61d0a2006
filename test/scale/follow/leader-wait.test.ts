import { expect, test } from "vitest";
import { describeLeaderEnd, type LeaderEnd, leaderWaitMs } from "../../../src/scale/follow/leader-wait.ts";

const refused = (status: number, retryAfterMs = 0, detail = ""): LeaderEnd => ({
  kind: "refused",
  status,
  detail,
  retryAfterMs,
});
const closed = (code: number): LeaderEnd => ({ kind: "closed", code });

/** Waits with a random value in the middle of the range. */
const waits: readonly (readonly [string, LeaderEnd, number, number])[] = [
  ["resume code", closed(4200), 0, 0],
  ["second resume code in a row", closed(4299), 1, 2_500],
  ["slot of a goaway", { kind: "moved" }, 0, 0],
  ["second goaway in a row", { kind: "moved" }, 1, 2_500],
  ["mute connection", { kind: "silent", afterMs: 35_000 }, 0, 0],
  ["second mute connection in a row", { kind: "silent", afterMs: 35_000 }, 1, 2_500],
  ["third mute connection in a row", { kind: "silent", afterMs: 35_000 }, 2, 4_500],
  ["back-off code", closed(4100), 0, 1_500],
  ["broken connection", closed(1006), 4, 15_500],
  ["stop code", closed(4000), 0, 45_000],
  ["last stop code", closed(4099), 7, 45_000],
  ["divergence", { kind: "diverged", reason: "" }, 3, 8_500],
  ["unreachable leader", { kind: "unreachable", reason: "" }, 4, 15_500],
  ["unreachable leader, at the bound", { kind: "unreachable", reason: "" }, 5, 15_500],
  ["unreachable leader, for days", { kind: "unreachable", reason: "" }, 10_000, 15_500],
  ["unfit leader", { kind: "incompatible", reason: "" }, 0, 45_000],
  ["HTTP 500", refused(500), 0, 1_500],
  ["HTTP 499", refused(499), 0, 45_000],
  ["HTTP 429", refused(429), 0, 1_500],
  ["HTTP 428", refused(428), 0, 45_000],
  ["HTTP 408", refused(408), 0, 1_500],
  ["HTTP 401, regardless of Retry-After", refused(401, 1_000), 0, 45_000],
  ["Retry-After below a second", refused(503, 999), 0, 1_500],
  ["Retry-After of fifteen minutes", refused(503, 900_000), 0, 900_500],
  ["Retry-After above fifteen minutes", refused(503, 900_001), 0, 900_500],
];

test.for(waits)("[F7] the wait after a %s", ([, end, failures, waitMs]) => {
  expect(leaderWaitMs(end, failures, () => 0.5)).toBe(waitMs);
});

test("[F7] the notice names the close code, or the leader's own reason", () => {
  expect(describeLeaderEnd(closed(4200))).toMatch(/^closed the connection: draining, /);
  expect(describeLeaderEnd(closed(3000))).toBe("closed the connection with 3000");
  expect(describeLeaderEnd(closed(1006))).toBe("dropped the connection");
  expect(describeLeaderEnd(refused(404))).toBe("rejected the connection with HTTP 404");
  expect(describeLeaderEnd(refused(503, 0, "no data"))).toMatch(/with HTTP 503: no data$/);
});
