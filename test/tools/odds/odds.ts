/*
 * npm run odds -- RECORDING [--labels pools.json] [--write]
 *
 * Plays a recording of real pools and prints, by cross-validation over their tokens, how well the
 * odds of the other tokens tell how a token's flares ended. With --write, it makes the table of
 * src/extensions/odds/pools-table.ts of all of them. With --labels, removals of liquidity are those
 * of the file, {"TOKEN": {"rug": {"at": MS}}}, instead of those that the engine found.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { collectFlares, type Ended } from "./collect.ts";
import { crossValidate } from "./cross-validation.ts";
import { tableText } from "./make-table.ts";

const HOUR_MS = 3_600_000;
const TABLE = new URL("../../../src/extensions/odds/pools-table.ts", import.meta.url);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { labels: { type: "string" }, write: { type: "boolean", default: false } },
});
const [path] = positionals;
if (path === undefined) throw new Error("which recording?");
const found = await collectFlares(path);
const flares = values.labels === undefined ? found : relabel(found, values.labels);
process.stdout.write(`${crossValidate(flares)}\n`);
if (values.write) writeFileSync(TABLE, tableText(flares, new Date().toISOString().slice(0, 10)));

/** Replaces the removals that the engine found by the labels, and prints how often they differ. */
function relabel(ended: readonly Ended[], file: string): readonly Ended[] {
  const labels: Record<string, { rug: { at: number } | null }> = JSON.parse(readFileSync(file, "utf8"));
  let [both, engine, label] = [0, 0, 0];
  const relabeled = ended.map(({ start, outcome }) => {
    const at = labels[start.token]?.rug?.at;
    const after = at === undefined ? -1 : at - start.atMs;
    const isRug = after >= 0 && after <= HOUR_MS;
    const isFound = outcome.held?.rugged_s != null;
    if (isRug && isFound) both += 1;
    else if (isFound) engine += 1;
    else if (isRug) label += 1;
    const held = outcome.held && { ...outcome.held, rugged_s: isRug ? Math.floor(after / 1_000) : null };
    return { start, outcome: held ? { ...outcome, held } : outcome };
  });
  process.stdout.write(
    `removals by label and engine ${both}, only by engine ${engine}, only by label ${label}\n`,
  );
  return relabeled;
}
