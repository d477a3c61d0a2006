import { expect } from "vitest";
import { connect } from "../../src/client/index.ts";
import { test } from "../http/stream/websocket-fixture.ts";
import { shareOf } from "../support/law-runs.ts";
import { assemble, type Member } from "./company.ts";
import { HASTE } from "./stream-kit.ts";
import { expectWhole, ROOM, weather } from "./weather.ts";

const FIRST = Number(process.env.SEED ?? 1);

for (const seed of shareOf([FIRST, FIRST + 1])) {
  test(`[L2] [L3] over connections that are cut, frozen and throttled, each stream ends with the state that REST serves, with no hole and no repeat (SEED=${seed})`, async ({
    makeWire,
  }) => {
    const wire = await makeWire(ROOM);
    const weathered = await weather(wire, seed, HASTE, async (members) =>
      assemble(connect, members, HASTE, seed),
    );
    expectWhole(weathered);
  });
}

test(`[L2] [L3] if the log is too short for such connections, each stream gets a reset and ends with the state that REST serves (SEED=${FIRST})`, async ({
  makeWire,
}) => {
  const wire = await makeWire({ ...ROOM, log: { minCount: 30, maxAgeMs: 0 } });
  const start = async (members: readonly Member[]) => assemble(connect, members, HASTE, FIRST);
  // On a busy machine the bad weather may cut nobody for so long.
  const { reports } = await weather(wire, FIRST, HASTE, start, 100);
  expect(reports.flatMap(({ wrong }) => wrong)).toEqual([]);
  for (const { resets } of reports) expect(resets[0]).toBe("started");
  for (const { resets } of reports) expect(new Set(resets)).toEqual(new Set(["started", "expired"]));
});
