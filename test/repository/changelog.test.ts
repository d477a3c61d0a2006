import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readDocument } from "./documents.ts";

const CHANGELOG = readDocument("src/app/release/CHANGELOG.md");
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

test("the changelog follows Keep a Changelog: Unreleased, then the versions from the newest on, each with groups of entries", () => {
  const [introduction = "", ...releases] = CHANGELOG.split(/^## /m);
  expect(introduction).toMatch(/^# Changelog\n/);
  const titles = releases.map((release) => release.split("\n", 1)[0] ?? "");
  expect(titles[0]).toBe("[Unreleased]");
  const dated = titles.slice(1).map((title) => /^\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$/.exec(title));
  expect(dated[0]?.[1]).toBe(version);
  const dates = dated.map((title) => title?.[2] ?? "no version and date");
  expect(dates).toEqual(dates.toSorted().toReversed());
  for (const release of releases) {
    const groups = release.split(/^### /m).slice(1);
    for (const group of groups) {
      const [name, ...entries] = group.split("\n").filter((line) => line !== "");
      expect(["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]).toContain(name);
      expect(entries.length).toBeGreaterThan(0);
      for (const entry of entries) expect(entry).toMatch(/^\* .+\.$/);
    }
  }
});
