/* npm run bench -- engine [--json]: measures, and prints what it measured beside what it should be. */
import { parseArgs } from "node:util";
import { benchEngine } from "./engine.ts";
import { formatRows, type Row } from "./report.ts";

const SUITES: Readonly<Record<string, () => Row[]>> = { engine: () => benchEngine() };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(SUITES, name));
if (unknown.length > 0) {
  process.stderr.write(`unknown suite ${unknown.join(", ")}; there are: ${Object.keys(SUITES).join(", ")}\n`);
  process.exit(1);
}
for (const [name, run] of Object.entries(SUITES)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const rows = run();
  process.stdout.write(
    values.json ? `${JSON.stringify({ suite: name, rows })}\n` : `${name}\n${formatRows(rows)}`,
  );
}
