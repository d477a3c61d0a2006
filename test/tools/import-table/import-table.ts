/*
 * npm run import-table -- [--serve] [--only TEXT]: prints what the commands import and replay say
 * to files of other programs, and what replay says to the imported ones. With --serve, also what
 * serve --file says.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runInProcess } from "../../app/cli/run-in-process.ts";
import { spawnCli } from "../../app/cli/spawn-cli.ts";
import { FILES, type GivenFile } from "./files.ts";

const { values } = parseArgs({
  options: { serve: { type: "boolean", default: false }, only: { type: "string", default: "" } },
});

const directory = mkdtempSync(join(tmpdir(), "flarewire-import-"));

/** Shortens what a command printed to what differs between the files. */
function shown({ code, stderr }: { readonly code: number | null; readonly stderr: string }): string {
  const said = stderr
    .replaceAll(`${directory}/`, "")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("{"));
  return `${code} ${said.join(" / ")}`;
}

async function serve(path: string): Promise<string> {
  await using cli = spawnCli(["serve", "--file", path, "--port", "0", "--data", "none", "--speed", "max"]);
  const ended = cli.ended().then((code) => shown({ code, stderr: cli.stderr() }));
  return await Promise.race([
    ended,
    cli.said("stdout", "http").then(
      () => "serves",
      () => ended,
    ),
  ]);
}

async function rowsOf({ what, name, content }: GivenFile): Promise<readonly string[]> {
  const path = join(directory, name);
  if (content === undefined) mkdirSync(path);
  else writeFileSync(path, content);
  const out = join(directory, "out");
  const imported = await runInProcess(["import", path, "--out", out]);
  const played = imported.code === 0 ? shown(await runInProcess(["replay", out])) : "";
  const replayed = shown(await runInProcess(["replay", path]));
  rmSync(out, { force: true });
  return [
    `${what} (${name})`,
    `  import: ${shown(imported)}`,
    ...(played === "" ? [] : [`  then replay: ${played}`]),
    `  replay: ${replayed}`,
    ...(values.serve ? [`  serve: ${await serve(path)}`] : []),
  ];
}

try {
  for (const file of FILES.filter(({ what }) => what.includes(values.only)))
    process.stdout.write(`${(await rowsOf(file)).join("\n")}\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
