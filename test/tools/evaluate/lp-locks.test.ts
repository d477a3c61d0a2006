import { expect, test } from "vitest";
import { changesOf, withLocks } from "./lp-locks.ts";

const NOBODY = "0x0000000000000000000000000000000000000000";
const TEAM_FINANCE = "0xe2fe530c047f2d85298b07d9333c05737f1435fb";

async function* lines(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

test("a pool's locks follow its listing, and come where they happened among the later events", async () => {
  const csv = [
    "at_ms,pool,from,to,value",
    `1000,0xp,${NOBODY},${NOBODY},1000`,
    `1001,0xp,${NOBODY},0xmaker,900`,
    `60000,0xp,0xmaker,${TEAM_FINANCE},900`,
  ].join("\n");
  const recording = lines(
    '{"kind":"recording"}',
    '{"kind":"listing","at":1005,"group":"bsc","pool":"0xp","token":"0xt"}',
    '{"kind":"trade","at":60000}',
    '{"kind":"trade","at":70000}',
  );
  const kinds: unknown[] = [];
  for await (const line of withLocks(recording, changesOf(csv))) {
    const { kind, at, held } = JSON.parse(line);
    kinds.push([kind, at, held]);
  }
  expect(kinds).toEqual([
    ["recording", undefined, undefined],
    ["listing", 1005, undefined],
    ["locks", 1005, []],
    ["locks", 60000, [{ share: 1, until: null }]],
    ["trade", 60000, undefined],
    ["trade", 70000, undefined],
  ]);
});
