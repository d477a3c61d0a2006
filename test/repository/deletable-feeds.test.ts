import { expect, test } from "vitest";
import { FEEDS } from "../../src/app/feeds.ts";
import { type Feature, SourceCopy } from "./deletable.ts";

/** The commands that do nothing without a feed, with their lines. */
const COMMANDS: Readonly<Record<string, Feature>> = {
  replay: {
    paths: [
      "app/cli/replay.ts",
      "app/cli/replay-tally.ts",
      "app/cli/play-recording.ts",
      "app/cli/backtest",
      "app/cli/import",
    ],
    lines: {
      "app/cli/run.ts": /^ {2}(?:replay|backtest|import): entry\(\n[\s\S]*?^ {2}\),\n/gm,
      "index.ts": /^export .*\/backtest\/.*\n/gm,
    },
  },
  record: {
    paths: ["app/cli/record.ts"],
    lines: { "app/cli/run.ts": /^ {2}record: entry\(.*\),\n/gm },
  },
};

/** A feed is a folder, and a line of the list with its import. */
function feedNamed(name: string): Feature {
  const { paths = [], lines = {} } = COMMANDS[name] ?? {};
  const line = new RegExp(`^(?:import .*/feeds/${name}/.*| {2}${name},)\n`, "gm");
  return { paths: [`feeds/${name}`, ...paths], lines: { ...lines, "app/feeds.ts": line } };
}

test("[law 4] each feed can be removed with its folder and its line: the rest still passes the type check", {
  timeout: 600_000,
}, async ({ onTestFinished }) => {
  const copy = new SourceCopy(onTestFinished);
  const found: Record<string, readonly string[]> = {};
  for (const { name } of FEEDS) found[name] = await copy.errorsWithout(feedNamed(name));
  const table = Object.entries(found).map(([name, errors]) => `${name}: ${errors.length}`);
  process.stdout.write(`errors without each feed:\n  ${table.join("\n  ")}\n`);
  expect(table.length).toBeGreaterThan(5);
  expect(Object.values(found).flat()).toEqual([]);
  // The check finds what is missing.
  const folder = await copy.errorsWithout({ paths: ["feeds/simulated"], lines: {} });
  expect(folder.join()).toMatch(/app\/feeds\.ts.*feeds\/simulated/);
});
