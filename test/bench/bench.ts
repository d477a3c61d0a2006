/* npm run bench -- engine [--hours 24] | slow [--readers 200] [--json]: measures, and prints what it measured beside what it should be. */
import { parseArgs } from "node:util";
import { benchEngine } from "./engine.ts";
import { formatRows, type Row } from "./report.ts";
import { benchSlow } from "./slow.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    hours: { type: "string", default: "24" },
    readers: { type: "string", default: "200" },
  },
});
const hours = Number(values.hours);
if (!(hours >= 0.01)) {
  process.stderr.write(`--hours must be a number of at least 0.01, not ${values.hours}\n`);
  process.exit(1);
}
const readers = Number(values.readers);
if (!(Number.isInteger(readers) && readers >= 1)) {
  process.stderr.write(`--readers must be a whole number of at least 1, not ${values.readers}\n`);
  process.exit(1);
}
const SUITES: Readonly<Record<string, () => Row[] | Promise<Row[]>>> = {
  engine: () => benchEngine(hours),
  slow: () => benchSlow(readers),
};
const unknown = positionals.filter((name) => !Object.hasOwn(SUITES, name));
if (unknown.length > 0) {
  process.stderr.write(`unknown suite ${unknown.join(", ")}; there are: ${Object.keys(SUITES).join(", ")}\n`);
  process.exit(1);
}
for (const [name, run] of Object.entries(SUITES)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const rows = await run();
  process.stdout.write(
    values.json ? `${JSON.stringify({ suite: name, rows })}\n` : `${name}\n${formatRows(rows)}`,
  );
}
