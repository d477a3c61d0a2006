import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { matchChannels } from "../../src/base/protocol/index.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TABLE = "src/base/model/groups.ts";
const ROWS = `
  linea: {
    label: "Linea",
    kind: "chain",
    names: "hex",
    chainId: 59_144,
    additional: true,
    sites: [["LineaScan", "https://lineascan.build/token/"]],
  },
  sui: { label: "Sui", kind: "chain", names: "exact", additional: true },
} as const satisfies Record<string, GroupFacts>;`;

/** A copy of the sources whose table of groups has two more rows, and no other difference. */
const COPY = mkdtempSync(join(tmpdir(), "group-row-"));
for (const name of ["src", "tsconfig.json", "package.json"])
  cpSync(join(ROOT, name), join(COPY, name), { recursive: true });
symlinkSync(join(ROOT, "node_modules"), join(COPY, "node_modules"));
const table = readFileSync(join(COPY, TABLE), "utf8");
writeFileSync(join(COPY, TABLE), table.replace("\n} as const satisfies Record<string, GroupFacts>;", ROWS));
afterAll(() => rmSync(COPY, { recursive: true, force: true }));

/** Returns the command's output, also if it fails. */
function outputOf(command: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(command, args, { cwd: COPY, encoding: "utf8" });
  return `${stdout}${stderr}`;
}

test.for(["src", "src/clients/dashboard", "src/clients/dashboard/worker", "src/clients/widget"])(
  "[law 7] with two more rows in the table of groups, %s passes the type check as it is",
  (project) => {
    // Without declarations, which cost more than the check.
    const types = ["--declaration", "false", "--emitDeclarationOnly", "false"];
    const args = ["-p", project, "--noEmit", ...types, "--singleThreaded"];
    expect(outputOf(join(ROOT, "node_modules/.bin/tsc"), args)).toBe("");
  },
);

test("[law 7] an additional group has channels by name, and leaves the patterns as they are", async () => {
  const protocol: typeof import("../../src/base/protocol/index.ts") = await import(
    join(COPY, "src/base/protocol/index.ts")
  );
  for (const pattern of ["*", "flares.*", "charts.*", "leaderboards.*", "flares.matic.*"])
    expect(protocol.matchChannels(pattern)).toEqual(matchChannels(pattern));
  expect(protocol.matchChannels("flares.linea.*")).toEqual([
    "flares.linea.free",
    "flares.linea.pro",
    "flares.linea.finished",
  ]);
  expect(protocol.matchChannels("charts.linea")).toEqual(["charts.linea"]);
  expect(protocol.matchChannels("leaderboards.sui")).toEqual(["leaderboards.sui"]);
});

test("[law 7] a set of channels has room for those of further groups", async () => {
  const masks: typeof import("../../src/gateway/hub/channel-mask.ts") = await import(
    join(COPY, "src/gateway/hub/channel-mask.ts")
  );
  const all = masks.resolveChannels(["*", "candles", "charts.linea", "flares.linea.*", "flares.sui.*"]);
  expect(masks.channelsOf(masks.maskOf(all))).toEqual(all);
  expect(all.length).toBe(new Set(all).size);
});

test("[law 7] REST serves an additional group only to those who name it", async () => {
  const model: typeof import("../../src/base/model/index.ts") = await import(
    join(COPY, "src/base/model/index.ts")
  );
  const rest: typeof import("../../src/gateway/http/rest/resource-bodies.ts") = await import(
    join(COPY, "src/gateway/http/rest/resource-bodies.ts")
  );
  const bodies = new rest.ResourceBodies({
    ready: true,
    cursor: { epoch: "0123456789abcdef", seq: 0 },
    snapshot: model.EMPTY_SNAPSHOT,
    observedAtMs: 0,
  } as ConstructorParameters<typeof rest.ResourceBodies>[0]);
  const textOf = (group?: string) => `${bodies.resource("charts", undefined, group as "bsc").bytes}`;
  expect(textOf()).toBe('{"bsc":[],"exchange":[],"matic":[],"avalanche":[]}');
  expect(textOf("matic")).toBe(textOf());
  expect(textOf("linea")).toBe('{"bsc":[],"exchange":[],"matic":[],"avalanche":[],"linea":[]}');
});
