import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../../../../src/main.ts", import.meta.url));

/** Runs `keys list` in a shell, followed by `rest`. Returns standard error. */
async function listKeys(rest: string) {
  const file = join(await mkdtemp(join(tmpdir(), "flarewire-output-")), "keys.json");
  await writeFile(file, JSON.stringify({ keys: [] }), { mode: 0o600 });
  const line = `{ "${process.execPath}" "${MAIN}" keys list --file "${file}"; echo "exit $?" >&2; } ${rest}`;
  return new Promise<string>((resolve) => {
    execFile("sh", ["-c", line], (_error, _stdout, stderr) => resolve(stderr));
  });
}

test("if the reader closes the pipe, the command ends with 0 and prints no error", async () => {
  expect(await listKeys("| true")).toBe("exit 0\n");
});

test.skipIf(!existsSync("/dev/full"))(
  "an output that cannot be written to prints one line and ends with 1",
  async () => {
    const stderr = await listKeys("> /dev/full");
    expect(stderr).toMatch(/^flarewire: cannot write the output: .*ENOSPC.*\nexit 1\n$/);
  },
);
