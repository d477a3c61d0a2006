import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestOf, readKeyFile } from "../../../src/gateway/keys/index.ts";
import { runInProcess } from "./run-in-process.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-cli-keys-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const keys = (args: readonly string[], environment: Record<string, string> = {}) =>
  runInProcess(["keys", ...args], environment);

test("a change of the file keeps its group's read permission, and removes access for others", async () => {
  const file = join(directory, "group.json");
  await keys(["add", "--file", file]);
  chmodSync(file, 0o664);
  expect((await keys(["add", "--file", file])).code).toBe(0);
  expect(statSync(file).mode & 0o777).toBe(0o640);
});

test("add prints the key once and stores its digest; list shows neither; revoke removes the key", async () => {
  const file = join(directory, "k.json");
  const limits = ["--connections", "2", "--requests-per-minute", "60", "--expires", "90d"];
  const added = await keys(["add", "--file", file, "--plan", "pro", "--name", "the desk", ...limits]);
  const key = added.stdout.trim();
  expect(added).toMatchObject({
    code: 0,
    stdout: `${key}\n`,
    stderr: expect.stringContaining("not shown again"),
  });
  expect(added.stderr).not.toContain(key);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [stored] = (await readKeyFile(file)).keys;
  expect(stored).toMatchObject({
    id: key.slice(3, 11),
    sha256: digestOf(key).toString("hex"),
    plan: "pro",
    name: "the desk",
    connections: 2,
    requests_per_minute: 60,
  });
  const daysLeft = (Date.parse(stored?.expires_at ?? "") - Date.now()) / 86_400_000;
  expect(daysLeft).toBeGreaterThan(89.9);
  expect(daysLeft).toBeLessThanOrEqual(90);
  const rest = ["--expires", "2027-01-31T12:00:00+01:00", "--channels", "flares.free,charts.*"];
  await keys(["add", "--plan", "free", ...rest], { FLAREWIRE_KEYS: file });
  writeFileSync(`${file}.used`, JSON.stringify({ [stored?.id ?? ""]: "2026-11-20T10:00:00Z" }));
  const listed = await keys(["list", "--file", file]);
  expect(listed.stdout).toMatch(/^id {8}plan {2}connections {2}requests\/min/);
  expect(listed.stdout).toMatch(
    new RegExp(`^${stored?.id} {2}pro {3}2 +60 .* 2026-11-20 10:00 .* the desk$`, "m"),
  );
  expect(listed.stdout).toMatch(/free {2}- +- .*- {2,}2027-01-31 11:00 {2}flares\.free,charts\.\* {2}-$/m);
  const json = await keys(["list", "--json", "--file", file]);
  expect(JSON.parse(json.stdout.split("\n")[0] ?? "")).toMatchObject({
    id: stored?.id,
    name: "the desk",
    last_used_at: "2026-11-20T10:00:00Z",
  });
  for (const { stdout } of [listed, json]) {
    expect(stdout).not.toContain(stored?.sha256);
    expect(stdout).not.toContain(key.slice(13));
  }
  expect(await keys(["revoke", "--file", file, stored?.id ?? ""])).toMatchObject({ code: 0, stdout: "" });
  expect((await readKeyFile(file)).keys).toHaveLength(1);
  const again = await keys(["revoke", "--file", file, key]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining(`"fw_${stored?.id}_***"`) });
  expect(again.stderr).toContain(`; npm run flarewire -- keys list --file ${file} prints the ids\n`);
  expect(again.stderr).not.toContain(key.slice(13));
});

test("revoke also accepts the whole key, or its masked form", async () => {
  const file = join(directory, "whole.json");
  for (const form of [(key: string) => key, (key: string) => `${key.slice(0, 12)}***`]) {
    const key = (await keys(["add", "--file", file])).stdout.trim();
    expect(await keys(["revoke", "--file", file, form(key)])).toMatchObject({ code: 0 });
  }
  expect((await keys(["list", "--file", file])).stdout).toBe("no keys\n");
});

test("rotate creates a key with the same rights, and the old one ends at the given time", async () => {
  const file = join(directory, "rotated.json");
  const rights = ["--plan", "free", "--name", "desk", "--channels", "flares.*", "--connections", "2"];
  const first = (await keys(["add", "--file", file, ...rights, "--expires", "90d"])).stdout.trim();
  const rotated = await keys(["rotate", "--file", file, "--until", "2h", first]);
  const second = rotated.stdout.trim();
  expect([rotated.code, second === first]).toEqual([0, false]);
  expect(rotated.stderr).toContain(`in place of ${first.slice(3, 11)}, which ends at `);
  const [old, made] = (await readKeyFile(file)).keys;
  const hoursLeft = (Date.parse(old?.expires_at ?? "") - Date.now()) / 3_600_000;
  expect(hoursLeft).toBeGreaterThan(1.9);
  expect(hoursLeft).toBeLessThanOrEqual(2);
  const shared = { plan: "free", name: "desk", channels: ["flares.*"], connections: 2 };
  expect(old).toMatchObject({ ...shared, sha256: digestOf(first).toString("hex") });
  expect(made).toMatchObject({ ...shared, sha256: digestOf(second).toString("hex") });
  expect(Date.parse(made?.expires_at ?? "") - Date.now()).toBeGreaterThan(89.9 * 86_400_000);
  // A key that ends earlier anyway does not get more time.
  const again = await keys(["rotate", "--file", file, "--until", "9h", old?.id ?? ""]);
  expect(again.stderr).toContain(`which ends at ${old?.expires_at};`);
  expect((await readKeyFile(file)).keys[0]).toEqual(old);
});

test.each([
  [["rotate", "--file", "x"], /the key's ID is missing, for example 3f9a1c2e/],
  [["rotate", "--file", "x", "--until", "never", "3f9a1c2e"], /--until "never" must be a duration from now/],
  [["rotate", "--file", "x", "--plan", "pro", "3f9a1c2e"], /unknown flag --plan/],
  [["rotate", "--file", "x", "3f9a1c2e"], /x: there is no such file/],
  [[], /no action given; known actions: add, list, rotate, revoke/],
  [["ad"], /unknown action "ad" \(did you mean add\?\)/],
  [["add"], /--file is missing, for example --file keys\.json/],
  [
    ["add", "--file", "x", "--plan", "prp"],
    /--plan "prp" \(did you mean pro\?\) must be free or pro, for example pro/,
  ],
  [["add", "--file", "x", "--plan", "gold"], /--plan "gold" must be free or pro, for example pro/],
  [
    ["add", "--file", "x", "--connections", "0"],
    /--connections "0" must be a whole number from 1 to 1000000/,
  ],
  [
    ["add", "--file", "x", "--requests-per-minute", "1e3"],
    /--requests-per-minute "1e3" must be a whole number/,
  ],
  [
    ["add", "--file", "x", "--expires", "yesterday"],
    /--expires "yesterday" must be a duration from now, or a future time/,
  ],
  [
    ["add", "--file", "x", "--expires", "2020-01-01T00:00:00Z"],
    /--expires "2020.* must be .*for example 90d or 2027/,
  ],
  [["add", "--file", "x", "--expires", "0"], /--expires "0" must be/],
  [
    ["add", "--file", "x", "--channels", "flares"],
    /channels: "flares".* matches no channel; known channels: flares\.free,/,
  ],
  [["add", "--file", "x", "--name", ""], /--name needs a value/],
  [["add", "--file", "x", "--json"], /unknown flag --json/],
  [["list", "--file", "/no/such/file"], /\/no\/such\/file: there is no such file/],
  [["revoke", "--file", "/no/such/file", "3f9a1c2e"], /\/no\/such\/file: there is no such file/],
  [["revoke", "--file", "x"], /the key's ID is missing, for example 3f9a1c2e/],
])("%j is rejected with what is expected", async (args, message) => {
  const { code, stdout, stderr } = await keys(args);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(message);
});
