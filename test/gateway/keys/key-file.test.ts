import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { editKeyFile } from "../../../src/app/cli/edit-key-file.ts";
import { InputError } from "../../../src/base/lib/input-error.ts";
import { formatKeys, type Key, mintSecret, parseKeys, readKeyFile } from "../../../src/gateway/keys/index.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-key-file-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const SECRET = mintSecret("fw");
const KEY: Key = { id: SECRET.id, sha256: SECRET.digest.toString("hex"), plan: "pro" };

test("formatted keys parse to equal keys", () => {
  const keys: Key[] = [
    KEY,
    {
      ...KEY,
      id: "00000000",
      plan: "free",
      name: "Ünï's desk",
      created_at: "2026-11-21T08:00:00.000Z",
      expires_at: "2027-01-31T00:00:00+01:00",
      connections: 1,
      requests_per_minute: 1_000_000,
    },
  ];
  expect(parseKeys(formatKeys(keys), "k")).toEqual(keys);
  expect(parseKeys(`\uFEFF${formatKeys([])}`, "k")).toEqual([]);
});

test("a file that any user can write is rejected for reading and editing, with the command to fix it; its group may write it", async () => {
  const file = join(directory, "open.json");
  writeFileSync(file, formatKeys([KEY]));
  for (const mode of [0o666, 0o602, 0o777]) {
    chmodSync(file, mode);
    const reason = new RegExp(
      `any user on this machine can write to it \\(mode 0${mode.toString(8)}\\); run chmod 600 `,
    );
    await expect(readKeyFile(file)).rejects.toThrow(reason);
    await expect(editKeyFile(file, (keys) => keys)).rejects.toThrow(InputError);
  }
  for (const mode of [0o600, 0o640, 0o664]) {
    chmodSync(file, mode);
    expect((await readKeyFile(file)).keys).toEqual([KEY]);
  }
});

const one = (change: object) => ({ keys: [{ ...KEY, ...change }] });
test.each([
  ["", /^k: it is empty; it must be \{"keys"/],
  ["{", /^k: it is not JSON \(.*\); it must be .* "npm run flarewire -- keys" writes/],
  [[], /^k: the file is \[\]; it must be/],
  [{}, /^k: keys is missing; it must be a list$/],
  [{ keys: {}, more: 1 }, /^k: unknown key "more" in the file; known keys: keys$/],
  [{ keys: {} }, /^k: keys is \{\}; it must be a list$/],
  [{ keys: [], kyes: [] }, /^k: unknown key "kyes" in the file \(did you mean keys\?\); known keys: keys$/],
  [
    one({ expire_at: "2027-01-31T00:00:00Z" }),
    /^k: unknown key "expire_at" in keys\[0\] \(did you mean expires_at\?\); known keys: id, .*expires_at/,
  ],
  [one({ id: "desk" }), /^k: keys\[0\]\.id is "desk"; it must be 8 hexadecimal digits$/],
  [one({ plan: "gold" }), /^k: keys\[0\]\.plan is "gold"; it must be one of free, pro$/],
  [
    one({ sha256: SECRET.text }),
    /^k: keys\[0\]\.sha256 is malformed; it must be 64 hexadecimal digits; never the key/,
  ],
  [{ keys: [SECRET.text.slice(12)] }, /^k: keys\[0\] is a text; it must be an object$/],
  [one({ name: { key: SECRET.text.slice(12) } }), /^k: keys\[0\]\.name is an object; it must be a text$/],
  [one({ [`${" ".repeat(50)}${SECRET.text}`]: 1 }), /^k: unknown key " {50}fw_[0-9a-f]{8}_\*\*" in keys/],
  [
    one({ id: SECRET.text }),
    /^k: keys\[0\]\.id is "fw_[0-9a-f]{8}_\*\*\*"; it must be 8 hexadecimal digits$/,
  ],
  [
    one({ expires_at: "tomorrow" }),
    /^k: keys\[0\]\.expires_at is "tomorrow"; it must be a time such as 2027-/,
  ],
  [
    one({ expires_at: "2027-01-31T00:00:00" }),
    /expires_at is "2027-01-31T00:00:00"; it must be .* with a time zone$/,
  ],
  [one({ connections: 0 }), /^k: keys\[0\]\.connections is 0; it must be 1 or more$/],
  [
    one({ requests_per_minute: "9" }),
    /^k: keys\[0\]\.requests_per_minute is "9"; it must be a whole number$/,
  ],
  [one({ requests_per_minute: 1e7 }), /requests_per_minute is 10000000; it must be at most 1000000$/],
  [one({ name: "a\nb" }), /^k: keys\[0\]\.name is "a\\nb"; it must be 1 to 64 characters/],
  [{ keys: [KEY, KEY] }, /^k: two keys have the id [0-9a-f]{8}; remove one of them$/],
])("%j is rejected with the reason and without secrets", (content, message) => {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const read = () => parseKeys(text, "k");
  expect(read).toThrow(InputError);
  expect(read).toThrow(message);
  expect(read).not.toThrow(SECRET.text.slice(13));
});

test("an edit creates a missing file for its owner only, replaces an existing file, and leaves no temporary file", async () => {
  const file = join(directory, "new.json");
  await editKeyFile(file, (keys) => [...keys, KEY]);
  expect((await readKeyFile(file)).keys).toEqual([KEY]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(existsSync(`${file}.new`)).toBe(false);
  const before = statSync(file).ino;
  await editKeyFile(file, () => []);
  expect((await readKeyFile(file)).keys).toEqual([]);
  // A new file replaces the old one, so a reader sees one or the other.
  expect(statSync(file).ino).not.toBe(before);
});

test("a failed edit leaves the file unchanged, and so does an edit of a malformed file", async () => {
  const file = join(directory, "kept.json");
  await editKeyFile(file, () => [KEY]);
  const refuse = () => {
    throw new RangeError("no");
  };
  await expect(editKeyFile(file, refuse)).rejects.toThrow("no");
  expect((await readKeyFile(file)).keys).toEqual([KEY]);
  expect(existsSync(`${file}.new`)).toBe(false);
  writeFileSync(file, "{");
  await expect(editKeyFile(file, () => [])).rejects.toThrow("it is not JSON");
  expect(readFileSync(file, "utf8")).toBe("{");
});

test("an edit during another is rejected, so that none undoes another", async () => {
  const file = join(directory, "busy.json");
  writeFileSync(`${file}.new`, "");
  await expect(editKeyFile(file, () => [KEY])).rejects.toThrow(`if none is, remove ${file}.new`);
  expect(existsSync(file)).toBe(false);
  rmSync(`${file}.new`);
  const add = (id: string) => editKeyFile(file, (keys) => [...keys, { ...KEY, id }]);
  const results = await Promise.allSettled(["00000001", "00000002", "00000003"].map(add));
  const done = results.filter(({ status }) => status === "fulfilled").length;
  expect(done).toBeGreaterThan(0);
  expect((await readKeyFile(file)).keys).toHaveLength(done);
});

test.skipIf(process.getuid?.() !== 0)(
  "an edit keeps owner and group as far as it may set them, and lets no other group read the file (needs root)",
  async () => {
    const file = join(directory, "owned.json");
    const after = async (mayChown: (uid: number) => boolean) => {
      writeFileSync(file, formatKeys([]));
      chownSync(file, 1_000, 2_000);
      chmodSync(file, 0o640);
      await using handle = await open(file);
      const files = Object.getPrototypeOf(handle);
      const { chown } = files;
      const spy = vi.spyOn(files, "chown").mockImplementation(async function (this: unknown, uid, gid) {
        if (!mayChown(Number(uid))) throw new Error("EPERM");
        await chown.call(this, uid, gid);
      });
      onTestFinished(() => spy.mockRestore());
      await editKeyFile(file, (keys) => keys);
      spy.mockRestore();
      const { uid, gid, mode } = statSync(file);
      return [uid, gid, mode & 0o777];
    };
    expect(await after(() => true)).toEqual([1_000, 2_000, 0o640]);
    expect(await after((uid) => uid === 0)).toEqual([0, 2_000, 0o640]);
    expect(await after(() => false)).toEqual([0, process.getgid?.(), 0o600]);
  },
);

test("a symbolic link to the file stays a link after an edit", async () => {
  const [file, link] = [join(directory, "real.json"), join(directory, "link.json")];
  writeFileSync(file, formatKeys([]));
  symlinkSync(file, link);
  await editKeyFile(link, () => [KEY]);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect((await readKeyFile(file)).keys).toEqual([KEY]);
});

test("a directory, a missing file and a file that cannot be created are rejected", async () => {
  await expect(readKeyFile(directory)).rejects.toThrow("it is not a regular file");
  await expect(readKeyFile(join(directory, "none"))).rejects.toThrow("there is no such file");
  const nowhere = join(directory, "none", "keys.json");
  await expect(editKeyFile(nowhere, () => [])).rejects.toThrow("it cannot be written");
});
