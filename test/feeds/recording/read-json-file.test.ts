import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InputError } from "../../../src/base/lib/input-error.ts";
import { readJsonFile } from "../../../src/feeds/recording/read-json-file.ts";

const PLACE = mkdtempSync(join(tmpdir(), "flarewire-json-"));

function write(name: string, text: string): string {
  const path = join(PLACE, name);
  writeFileSync(path, text);
  return path;
}

/** Returns the content of a file as JSON, or its problem without its name. */
function reason(path: string, max = 7): string {
  try {
    return JSON.stringify(readJsonFile(path, "table", max));
  } catch (error) {
    return error instanceof InputError ? error.reason : "another error";
  }
}

test("a JSON file is read up to its limit, also with a byte order mark; a problem names what it is", () => {
  expect(reason(write("table", '{"a":1}'))).toBe('{"a":1}');
  expect(reason(write("marked", "\uFEFF[1]"))).toBe("[1]");
  expect(reason(write("long-table", '{"a":12}'))).toBe("the table has 8 bytes (maximum 7)");
  expect(reason(write("text", "{a}"))).toMatch(/^the table is not JSON: /);
  expect(reason(join(PLACE, "none"))).toMatch(/^cannot read the table: ENOENT/);
  expect(reason(PLACE)).toBe("the table must be a regular file");
});
