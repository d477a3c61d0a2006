import { expect, test } from "vitest";
import { EXTENSIONS } from "../../src/app/extensions.ts";
import { SHARED_LOGS } from "../../src/app/shared-logs.ts";
import type { Extension } from "../../src/gateway/start/extension.ts";
import { type Feature, SourceCopy } from "./deletable.ts";
import { EXTENSIONS as IMPORTS } from "./dependency-rules.ts";

/** The commands that do nothing without an extension, with their lines. */
const COMMANDS: Readonly<Record<string, Feature>> = {
  mcp: { paths: ["app/cli/mcp.ts"], lines: { "app/cli/run.ts": /^ {2}mcp: entry\(.*\),\n/gm } },
};

/** Returns the extension and those that import it, directly or not. */
function withImporters(name: string): readonly string[] {
  const importers = Object.keys(IMPORTS).filter((other) => IMPORTS[other]?.includes(name));
  return [...new Set([name, ...importers.flatMap(withImporters)])];
}

/** An extension is a folder, and a name in the list with its import. So are those that need it. */
function extensionNamed(name: string): Feature {
  const all = withImporters(name);
  const names = all.join("|");
  const line = new RegExp(`^(?:import .*/extensions/(?:${names})/.*| {2}(?:${names}),)\n`, "gm");
  const { paths = [], lines = {} } = COMMANDS[name] ?? {};
  return {
    paths: [...all.map((one) => `extensions/${one}`), ...paths],
    lines: { ...lines, "app/extensions.ts": line },
  };
}

test("[law 4] each extension and the cluster can be removed with its folder and its line: the rest still passes the type check", {
  timeout: 600_000,
}, async ({ onTestFinished }) => {
  const copy = new SourceCopy(onTestFinished);
  const all: readonly Extension[] = EXTENSIONS;
  const found: Record<string, readonly string[]> = {};
  for (const { name } of all) found[name] = await copy.errorsWithout(extensionNamed(name));
  for (const { name } of SHARED_LOGS)
    found[name] = await copy.errorsWithout({
      paths: [`scale/${name}`],
      lines: { "app/shared-logs.ts": new RegExp(`^(?:import .*/scale/${name}/.*| {2}${name},)\n`, "gm") },
    });
  found.odds = await copy.errorsWithout({
    paths: ["extensions/odds"],
    lines: { "app/engine-options.ts": /^(?:import .*\/extensions\/odds\/.*| {4}openOdds: .*)\n/gm },
  });
  const table = Object.entries(found).map(([name, errors]) => `${name}: ${errors.length}`);
  process.stdout.write(`errors without each extension:\n  ${table.join("\n  ")}\n`);
  expect(table.length).toBeGreaterThan(6);
  expect(Object.values(found).flat()).toEqual([]);
});
