/*
 * npm run borders: prints the lines of each package of src, the arrows between packages, and how
 * many files the public entries load.
 */
import { arrows, filesLoadedBy, LIMITS, linesByPackage } from "./measure.ts";

const ENTRIES = ["gateway/index.ts", "index.ts", "clients/sdk/index.ts"];

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const lines = linesByPackage();
for (const [name, count] of Object.entries(lines)) {
  const limit = LIMITS[name] ?? Number.POSITIVE_INFINITY;
  say(`${name}: ${count} lines${Number.isFinite(limit) ? ` of at most ${limit}` : ""}`);
}
say(`base and gateway: ${(lines.base ?? 0) + (lines.gateway ?? 0)} lines of at most 20500`);
say(`all: ${Object.values(lines).reduce((sum, count) => sum + count, 0)} lines`);
const found = arrows();
say(`\n${found.size} arrows:`);
for (const [arrow, imports] of [...found].toSorted()) say(`  ${arrow}: ${imports} imports`);
say("");
for (const entry of ENTRIES) say(`src/${entry} loads ${filesLoadedBy(entry)} files`);
