import { describe, expect, test } from "vitest";
import { SETTING_NAMES } from "../../../src/app/config/config.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { VERSION } from "../../../src/base/lib/version.ts";
import { parseCursor } from "../../../src/base/protocol/index.ts";
import { flagOf } from "../../../src/base/settings/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { runInProcess as flarewire } from "./run-in-process.ts";

describe("the command line", () => {
  test.each([["--help"], ["-h"], ["help"]])("%s lists the commands", async (flag) => {
    const { code, stdout, stderr } = await flarewire([flag]);
    expect(code).toBe(0);
    expect(stderr).toBe("");
    for (const command of ["serve", "replay", "tail", "top", "keys"])
      expect(stdout).toMatch(new RegExp(`^  ${command} `, "m"));
  });

  test("without a command it prints the usage as an error", async () => {
    const { code, stdout, stderr } = await flarewire([]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("Usage: flarewire COMMAND");
  });

  test("--version prints the package's version alone", async () => {
    expect(await flarewire(["--version"])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });

  test("an unknown command is rejected with the nearest one", async () => {
    const { code, stderr } = await flarewire(["srve"]);
    expect(code).toBe(1);
    expect(stderr).toContain('unknown command "srve" (did you mean serve?)');
  });

  test.each([["serve"], ["replay"], ["tail"], ["top"], ["keys"]])(
    "%s --help prints the usage, even with an invalid flag",
    async (name) => {
      const { code, stdout } = await flarewire([name, "--nonsense", "--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: flarewire ${name}`);
    },
  );

  test("the sample cursor of tail --help has the format of a real one", async () => {
    const sample = /for example (\S+);/.exec((await flarewire(["tail", "--help"])).stdout)?.[1] ?? "";
    expect(sample).toMatch(/^[0-9a-f]{16}-\d+$/);
    expect(parseCursor(sample)).toBeDefined();
    expect(new MemoryLog({ clock: systemClock }).epoch).toMatch(/^[0-9a-f]{16}$/);
  });

  test("serve --help gives the simulated market as the default, and the recorded day for feed replay", async () => {
    const { stdout } = await flarewire(["serve", "--help"]);
    const help = stdout.replaceAll(/\s+/g, " ");
    expect(help).toContain("default: simulated, or replay if file is given");
    expect(help).toContain("default: the shipped day, 2017-11-12, if feed is replay");
  });

  test.each(["replay", "backtest"])(
    "%s --help says that a recording given by name has no profiles by default",
    async (name) => {
      const { stdout } = await flarewire([name, "--help"]);
      expect(stdout).toMatch(/--profiles FILE\n.*\n.*default: none;/);
    },
  );

  test("serve --help lists every setting", async () => {
    const { stdout } = await flarewire(["serve", "--help"]);
    for (const name of SETTING_NAMES) expect(stdout).toContain(`  --${flagOf(name)}`);
  });
});

describe("a user error", () => {
  test("in a flag's name is the only one reported, because the next word was probably the flag's value", async () => {
    for (const args of [
      ["tail", "--chanels", "x"],
      ["replay", "--evnts", "x"],
    ]) {
      const { stderr } = await flarewire(args);
      expect(stderr).toMatch(/^flarewire .*unknown flag --\w+ \(did you mean --\w+\?\)\nRun [^\n]*\n$/s);
    }
  });

  test("is reported for every setting at once, and the exit code is 1", async () => {
    const { code, stdout, stderr } = await flarewire(["serve", "--port", "x"], { FLAREWIRE_SPEED: "0" });
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain(
      'port = "x" (flag --port) must be a whole number from 0 to 65535, for example 9000',
    );
    expect(stderr).toContain('speed = "0" (environment FLAREWIRE_SPEED)');
    expect(stderr).toContain("Run npm run flarewire -- serve --help");
  });

  test.each([
    [["replay"], "argument FILE is missing"],
    [["replay", "no-such.csv"], 'file = "no-such.csv" (argument FILE) must be the path of a readable file'],
    [["replay", "package.json", "--port", "1"], "unknown flag --port"],
    [["replay", "package.json", "more"], 'unexpected argument "more"'],
    [["replay", "package.json", "--events", "-", "--snapshot", "-"], "standard output is used twice"],
    [["tail", "gopher://x"], "must start with http://, https://, ws:// or wss://"],
    [["tail", "--channels", "flares.pro,flairs.*"], '"flairs.*" (did you mean flares.*?) matches no channel'],
    [["tail", "gopher://me:hunter2@x"], 'URL "gopher://***@x" must start with'],
    [["tail", "--after", "yesterday"], "as the server sends it, for example 8dffafc1dc3c26d1-1042"],
    [["tail", "--after", "oldest"], "only GET /api/v1/events can start at the oldest event"],
    [["tail", "--after="], "--after needs a value"],
    [["tail", "--json", "--json"], "--json is given twice"],
    [["replay", "package.json", "--events="], "--events needs a value"],
    [["replay", "package.json", "--events", "a", "--events", "b"], "--events is given twice"],
    [["record"], "argument DIRECTORY is missing"],
    [["tail", "--jsn"], "unknown flag --jsn (did you mean --json?)"],
  ])("%j ends with 1 and the reason", async (args, expected) => {
    const { code, stdout, stderr } = await flarewire(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(expected);
  });
});
