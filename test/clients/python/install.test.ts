import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { findInstalled } from "../../support/setup/debian-package.ts";
import { hasModules, hasPython, PYTHON } from "./python-client.ts";

const SOURCES = "src/clients/python";
const run = promisify(execFile);
const hasPip = findInstalled(
  () => hasModules("setuptools", "ensurepip", "pip", "wheel"),
  ...["python3-venv", "python3-pip", "python3-setuptools", "python3-wheel"],
);

const PROGRAM = `import flarewire, importlib.metadata, pathlib
folder = pathlib.Path(flarewire.__file__).parent
print(folder, importlib.metadata.version("flarewire"), (folder / "py.typed").exists())`;

describe.skipIf(!hasPython || !hasPip)("the Python package (python3-venv, python3-pip)", () => {
  test("the README's pip command installs it with its types, offline and with Debian's packages only", async ({
    onTestFinished,
  }) => {
    const cwd = await mkdtemp(join(tmpdir(), "flarewire-pip-"));
    onTestFinished(() => rm(cwd, { recursive: true, force: true }));
    // The build writes files beside the sources, so copy them.
    await cp(SOURCES, join(cwd, SOURCES), { recursive: true });
    const guide = await readFile(`${SOURCES}/README.md`, "utf8");
    const [, command = ""] = /`(python3 -m venv [^`]*pip install [^`]*)`/.exec(guide) ?? [];
    // Offline, with Debian's setuptools, aiohttp and pip: to install pip would take seconds.
    const offline = command
      .replace("-m venv", "-m venv --without-pip")
      .replace("venv/bin/pip install", "venv/bin/python -m pip install --no-index --no-build-isolation");
    await run("bash", ["-c", offline.replace("python3", PYTHON)], { cwd });
    const { stdout } = await run(join(cwd, "venv/bin/python"), ["-c", PROGRAM], { cwd });
    const { version } = JSON.parse(await readFile("package.json", "utf8"));
    expect(stdout).toMatch(
      new RegExp(`^${cwd}/venv/lib/python[\\d.]+/site-packages/flarewire ${version} True\n$`),
    );
  });
});
