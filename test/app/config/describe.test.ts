import { expect, test } from "vitest";
import { SETTING_NAMES, settingsHelp, settingsList } from "../../../src/app/config/config.ts";
import { variableOf } from "../../../src/app/config/flags.ts";
import { flagOf } from "../../../src/base/settings/index.ts";

test("the list has one line for each setting, in order, with its flag, variable, default and values", () => {
  const line =
    /^\* \*\*`(\w+)`\*\*, `--[^`]+`, `FLAREWIRE_\w+`: .+\. Default: .+\. Value: .+; e\.g\. `[^`]+`\.$/;
  expect(
    settingsList()
      .split("\n")
      .map((one) => line.exec(one)?.[1]),
  ).toEqual(SETTING_NAMES);
});

test("the help names the flag and variable of every setting, in at most 100 columns", () => {
  const help = settingsHelp();
  for (const name of SETTING_NAMES) {
    expect(help).toContain(`  --${flagOf(name)}`);
    expect(help).toContain(variableOf(name));
  }
  expect(Math.max(...help.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
});

test("no description contains the path of the working directory", () => {
  expect(settingsList() + settingsHelp()).not.toContain(process.cwd());
});
