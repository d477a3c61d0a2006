import { expect, test } from "vitest";
import { arrows, filesLoadedBy, LIMITS, linesByPackage } from "../tools/borders/measure.ts";

test("each package of src stays within its lines, and base and gateway together within theirs", () => {
  const lines = linesByPackage();
  const over = Object.entries(LIMITS).filter(([name, most]) => (lines[name] ?? 0) > most);
  expect(over.map(([name, most]) => `${name}: ${lines[name]} lines, at most ${most}`)).toEqual([]);
  expect((lines.base ?? 0) + (lines.gateway ?? 0)).toBeLessThanOrEqual(20_500);
});

test("at most 30 arrows run between packages, and the gateway loads at most 180 files", () => {
  expect(arrows().size).toBeLessThanOrEqual(30);
  expect(filesLoadedBy("gateway/index.ts")).toBeLessThanOrEqual(180);
});
