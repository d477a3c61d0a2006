import { expect, test } from "vitest";
import { SETTING_NAMES, settingsHelp, settingsTable } from "../../src/config/config.ts";
import { flagOf, variableOf } from "../../src/config/schema/settings.ts";

test("the table has one row for each setting, in order, and the same number of cells in each", () => {
  const [head, rule, ...rows] = settingsTable().split("\n");
  expect(rows.map((row) => /^\| `(\w+)` \|/.exec(row)?.[1])).toEqual(SETTING_NAMES);
  const cells = (row = "") => row.split(/(?<!\\)\|/).length;
  expect(new Set([head, rule, ...rows].map(cells))).toEqual(new Set([8]));
});

test("the help names flag and variable of every setting, and keeps to 100 columns", () => {
  const help = settingsHelp();
  for (const name of SETTING_NAMES) {
    expect(help).toContain(`  --${flagOf(name)}`);
    expect(help).toContain(variableOf(name));
  }
  expect(Math.max(...help.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
});

test("no description contains a path of this machine", () => {
  expect(settingsTable() + settingsHelp()).not.toContain(process.cwd());
});
