/* npm run bench -- engine [--hours 24] [--json], or -- drain [--clients 2000]: measures, and prints what it measured beside what it should be. */
import { parseArgs } from "node:util";
import { benchDrain } from "./drain.ts";
import { benchEngine } from "./engine.ts";
import { formatRows, type Row } from "./report.ts";

interface Sizes {
  readonly hours: number;
  readonly clients: number;
}

const SUITES: Readonly<Record<string, (sizes: Sizes) => Row[] | Promise<Row[]>>> = {
  engine: ({ hours }) => benchEngine(hours),
  drain: ({ clients }) => benchDrain(clients),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    hours: { type: "string", default: "24" },
    clients: { type: "string", default: "2000" },
  },
});
const hours = Number(values.hours);
if (!(hours >= 0.01)) {
  process.stderr.write(`--hours must be a number of at least 0.01, not ${values.hours}\n`);
  process.exit(1);
}
const clients = Number(values.clients);
if (!Number.isInteger(clients) || clients < 1) {
  process.stderr.write(`--clients must be a whole number of at least 1, not ${values.clients}\n`);
  process.exit(1);
}
const unknown = positionals.filter((name) => !Object.hasOwn(SUITES, name));
if (unknown.length > 0) {
  process.stderr.write(`unknown suite ${unknown.join(", ")}; there are: ${Object.keys(SUITES).join(", ")}\n`);
  process.exit(1);
}
for (const [name, run] of Object.entries(SUITES)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const rows = await run({ hours, clients });
  process.stdout.write(
    values.json ? `${JSON.stringify({ suite: name, rows })}\n` : `${name}\n${formatRows(rows)}`,
  );
}
