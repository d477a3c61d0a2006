import { expect, test } from "vitest";
import { judgeUpstream, type UpstreamHealth } from "../../../src/feeds/upstream/upstream-freshness.ts";
import { DEFAULT_STATUS } from "../../../src/feeds/upstream/upstream-status.ts";

const LIMIT = 10_000;
const GOOD: UpstreamHealth = {
  silentMs: 0,
  lastSuccessAtMs: Date.UTC(2026, 0, 1),
  observedAtMs: Date.UTC(2026, 0, 1),
  status: DEFAULT_STATUS,
  trouble: undefined,
  partly: false,
  doubt: undefined,
  slowness: undefined,
  staleAfterMs: LIMIT,
};
const aged = (dataAgeMs: number) => ({ status: { ...DEFAULT_STATUS, dataAgeMs } });
const status = (state: "stale" | "down") => ({ status: { ...DEFAULT_STATUS, state } });
const never = { lastSuccessAtMs: undefined };

const cases: readonly (readonly [string, string, Partial<UpstreamHealth>, RegExp])[] = [
  ["silent for exactly as long as allowed", "live", { silentMs: LIMIT }, /^$/],
  ["silent for longer", "stale", { silentMs: LIMIT + 1 }, /no response for more than 10000 ms/],
  ["silent, with data of its own age, at the limit", "live", { silentMs: 4_000, ...aged(6_000) }, /^$/],
  ["silent, with data of its own age, above it", "stale", { silentMs: 4_000, ...aged(6_001) }, /is older/],
  ["failing since less than the limit", "live", { silentMs: LIMIT, trouble: "returned 500" }, /^$/],
  ["failing for longer", "down", { silentMs: LIMIT + 1, trouble: "returned 500" }, /returned 500/],
  [
    "failing in a part for longer",
    "stale",
    { silentMs: LIMIT + 1, trouble: "returned 500", partly: true },
    /returned 500/,
  ],
  ["failing from the start", "down", { ...never, trouble: "refused" }, /refused/],
  ["without a response so far", "stale", never, /has not responded yet/],
  ["stale by its own report", "stale", status("stale"), /reports that its source is stale/],
  ["down by its own report", "down", { ...status("down"), doubt: "it lacks items" }, /reports .* is down/],
  [
    "slow",
    "live",
    { slowness: "takes more than 3 s to answer" },
    /^the upstream takes more than 3 s to answer$/,
  ],
  ["doubted", "stale", { doubt: "it lacks items", silentMs: LIMIT + 1 }, /it lacks items/],
];

test.for(cases)("an upstream that is %s counts as %s", ([, state, health, reason]) => {
  const judged = judgeUpstream({ ...GOOD, ...health });
  expect(judged.state).toBe(state);
  expect(judged.reason).toMatch(reason);
});

test("the age is the silence plus the age that the upstream reported", () => {
  expect(judgeUpstream({ ...GOOD, silentMs: 1_200.4, ...aged(300) }).data_age_ms).toBe(1_500);
});
