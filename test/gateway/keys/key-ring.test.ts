import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { formatKeys, type Key, KeyRing, mintSecret } from "../../../src/gateway/keys/index.ts";
import { type Finish, newDirectory } from "../../support/servers/edges.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test } from "../../support/time/still-running.ts";

const SECRET = mintSecret("fw");
const KEY: Key = { id: SECRET.id, sha256: SECRET.digest.toString("hex"), plan: "pro" };

/** Opens a key ring on a file with one key, and collects its reports. */
async function openRing(onTestFinished: Finish, key = KEY) {
  const file = join(newDirectory(onTestFinished), "keys.json");
  const write = (text: string) => writeFileSync(file, text, { mode: 0o600 });
  write(formatKeys([key]));
  const clock = new ManualClock();
  const reports: string[] = [];
  const ring = await KeyRing.open({
    ...{ file, clock },
    onReload: ({ keys, revoked, lowered }) =>
      reports.push(`reload ${keys} -${revoked.length} v${lowered.length}`),
    notify: () => reports.push("trouble"),
    onEnd: (id, reason) => reports.push(`end ${id === key.id ? "the key" : id} ${reason}`),
  });
  return { file, write, clock, reports, ring };
}

test("[K7] each time the key file breaks, it is reported once, at the second check, and its keys stay valid", async ({
  onTestFinished,
}) => {
  const { write, reports, ring } = await openRing(onTestFinished);
  for (let round = 0; round < 2; round += 1) {
    reports.length = 0;
    write(`{ broken ${round}`);
    await ring.look();
    expect([reports, ring.isStale]).toEqual([[], false]);
    await ring.look();
    await ring.look();
    expect([reports, ring.isStale]).toEqual([["trouble"], true]);
    expect(ring.find(SECRET.text)).toEqual(KEY);
    write(formatKeys([KEY]));
    await ring.look();
    expect([ring.isStale, ring.find(SECRET.text)]).toEqual([false, KEY]);
  }
  ring.stop();
});

test("[K7] a missing key file is reported once, and its keys stay valid; a downgraded or removed key ends at the next check", async ({
  onTestFinished,
}) => {
  const { file, write, clock, reports, ring } = await openRing(onTestFinished);
  rmSync(file);
  for (let look = 0; look < 3; look += 1) await ring.look();
  expect([reports, ring.isStale, ring.get(KEY.id)]).toEqual([["trouble"], true, KEY]);
  write(formatKeys([{ ...KEY, plan: "free" }]));
  await ring.look();
  write(formatKeys([]));
  clock.advance(1_000);
  await ring.looked();
  expect(reports).toEqual([
    "trouble",
    "reload 1 -0 v1",
    "end the key forbidden",
    "reload 0 -1 v0",
    "end the key unauthorized",
  ]);
  ring.stop();
});

test("[K7] an expired key ends once, at the first check after its expiry", async ({ onTestFinished }) => {
  const expires_at = new Date(new ManualClock().now() + 5_000).toISOString();
  const { clock, reports, ring } = await openRing(onTestFinished, { ...KEY, expires_at });
  clock.advance(4_999);
  expect(reports).toEqual([]);
  clock.advance(1);
  clock.advance(10_000);
  await ring.looked();
  expect(reports).toEqual(["end the key unauthorized"]);
  ring.stop();
});
