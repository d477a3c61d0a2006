import { expect, test } from "vitest";
import { EXTENSIONS } from "../../src/app/extensions.ts";
import { FEEDS } from "../../src/app/feeds.ts";
import { SHARED_LOGS } from "../../src/app/shared-logs.ts";
import type { Extension } from "../../src/gateway/start/extension.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { danglingWithout, type Feature, SourceCopy } from "./deletable.ts";
import { EXTENSIONS as IMPORTS } from "./dependency-rules.ts";

/** The commands that do nothing without a feed or an extension, with their lines. */
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
  mcp: { paths: ["app/cli/mcp.ts"], lines: { "app/cli/run.ts": /^ {2}mcp: entry\(.*\),\n/gm } },
};

/** A feature is a folder, and a name in a list with its import. So are those that need it. */
function featureOf(folder: string, names: readonly string[], list: string): Feature {
  const [name = ""] = names;
  const any = names.join("|");
  const line = new RegExp(`^(?:import .*/${folder}/(?:${any})/.*| {2}(?:${any}),)\n`, "gm");
  const { paths = [], lines = {} } = COMMANDS[name] ?? {};
  return { paths: [...names.map((one) => `${folder}/${one}`), ...paths], lines: { ...lines, [list]: line } };
}

/** Returns the extension and those that import it, directly or not. */
function withImporters(name: string): readonly string[] {
  const importers = Object.keys(IMPORTS).filter((other) => IMPORTS[other]?.includes(name));
  return [...new Set([name, ...importers.flatMap(withImporters)])];
}

const NAMED: readonly Extension[] = EXTENSIONS;
const FEATURES: Readonly<Record<string, Feature>> = Object.fromEntries([
  ...FEEDS.map(({ name }) => [name, featureOf("feeds", [name], "app/feeds.ts")]),
  ...NAMED.map(({ name }) => [name, featureOf("extensions", withImporters(name), "app/extensions.ts")]),
  ...SHARED_LOGS.map(({ name }) => [name, featureOf("scale", [name], "app/shared-logs.ts")]),
  [
    "odds",
    {
      paths: ["extensions/odds"],
      lines: { "app/engine-options.ts": /^(?:import .*\/extensions\/odds\/.*| {4}openOdds: .*)\n/gm },
    },
  ],
]);
const NAMES = Object.keys(FEATURES);

test("[law 4] no file imports a feed, an extension or the cluster that is removed with its folder and its line", () => {
  expect(NAMES.length).toBeGreaterThan(14);
  for (const name of NAMES)
    expect(danglingWithout(FEATURES[name] ?? { paths: [], lines: {} }), name).toEqual([]);
  // The check finds a line that remains.
  const folder = danglingWithout({ paths: ["feeds/simulated"], lines: {} });
  expect(folder).toContain("app/feeds.ts -> feeds/simulated/index.ts");
});

// A type check costs seconds: `npm test` removes every other feature at once, the soak each alone.
const REMOVED: readonly (readonly string[])[] = IS_SOAK
  ? NAMES.map((name) => [name])
  : [0, 1].map((rest) => NAMES.filter((_, index) => index % 2 === rest));

test("[law 4] each feed, each extension and the cluster can be removed with its folder and its line: the rest still passes the type check", async ({
  onTestFinished,
}) => {
  const copy = new SourceCopy(onTestFinished);
  // The check finds what is missing.
  copy.add("missing.ts", 'import "./missing-folder/index.ts";\n');
  for (const names of REMOVED) {
    const errors = await copy.errorsWithout(names.flatMap((name) => FEATURES[name] ?? []));
    expect(errors, `without ${names}`).toEqual([expect.stringMatching(/^src\/missing\.ts.*missing-folder/)]);
  }
});
