import { expect } from "vitest";
import { connect } from "../../../src/clients/sdk/index.ts";
import { test } from "../../gateway/http/stream/websocket-fixture.ts";
import { shareOf } from "../../support/law-runs.ts";
import { CHAOS_LIMITS, expectNoLoss, runChaos } from "./chaos-run.ts";
import { type Member, startGroup } from "./stream-group.ts";
import { HASTE } from "./stream-kit.ts";

const FIRST = Number(process.env.SEED ?? 1);

for (const seed of shareOf([FIRST, FIRST + 1])) {
  test(`[L2] [L3] over cut, frozen and throttled connections, each stream ends with the server's lists, without gaps or repeats (SEED=${seed})`, async ({
    makeWire,
  }) => {
    const wire = await makeWire(CHAOS_LIMITS);
    const result = await runChaos(wire, seed, HASTE, async (members) =>
      startGroup(connect, members, HASTE, seed),
    );
    expectNoLoss(result);
  });
}

test(`[L2] [L3] if the log is too short for such connections, each stream gets a reset and ends with the server's lists (SEED=${FIRST})`, async ({
  makeWire,
}) => {
  const wire = await makeWire({ ...CHAOS_LIMITS, log: { minCount: 30, maxAgeMs: 0 } });
  const start = async (members: readonly Member[]) => startGroup(connect, members, HASTE, FIRST);
  // On a busy machine, random cuts alone may be too short for a cursor to expire.
  const { reports } = await runChaos(wire, FIRST, HASTE, start, 100);
  expect(reports.flatMap(({ wrong }) => wrong)).toEqual([]);
  for (const { resets } of reports) expect(resets[0]).toBe("started");
  for (const { resets } of reports) expect(new Set(resets)).toEqual(new Set(["started", "expired"]));
});
