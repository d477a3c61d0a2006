import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { actionAfter, CLOSE_CODES } from "../../../src/base/protocol/index.ts";
import { modelSource } from "./model-source.ts";
import { hasMypy, hasPython, spawnPython } from "./python-client.ts";

const PACKAGE = fileURLToPath(new URL("../../../src/clients/python/", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));

test("the Python types match the contracts", async () => {
  await expect(modelSource()).toMatchFileSnapshot(`${PACKAGE}flarewire/model.py`);
});

test("the Python package has the version of package.json", () => {
  expect(readFileSync(`${PACKAGE}pyproject.toml`, "utf8")).toContain(`\nversion = "${version}"\n`);
});

describe.skipIf(!hasPython)("the Python package (python3-aiohttp)", () => {
  test("[W26] it takes the protocol's action for each close code and status", async () => {
    const codes = [400, 404, 408, 410, 429, 500, 502, 503, 1000, 1001, 1006, 1011, 3000];
    const all = [...codes, ...Object.values(CLOSE_CODES).map(({ code }) => code)];
    const program = `import json, sys
sys.path.insert(0, sys.argv[1])
from flarewire.retry import action_after
print(json.dumps([action_after(code) for code in json.loads(sys.argv[2])]))`;
    await using python = spawnPython("-c", program, PACKAGE, JSON.stringify(all));
    expect(await python.ended(), python.stderr()).toBe(0);
    expect(JSON.parse(python.stdout())).toEqual(all.map(actionAfter));
  });
});

describe.skipIf(!hasMypy)("the types of the Python package (mypy, python3-aiohttp)", () => {
  // At its first run, mypy reads all of aiohttp: 5 seconds, or minutes on a busy machine.
  test("mypy --strict reports nothing on the package and the programs that use it", async () => {
    const files = [
      "examples/follow.py",
      "test/clients/python/print_items.py",
      "test/clients/python/print_snapshot.py",
    ];
    const args = [
      "--strict",
      "--cache-dir",
      "node_modules/.cache/mypy",
      "src/clients/python/flarewire",
      ...files,
    ];
    await using mypy = spawnPython("-m", "mypy", ...args);
    expect(await mypy.ended(), mypy.stdout()).toBe(0);
  });
});
