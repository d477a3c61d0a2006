import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Fault } from "./fault-list.ts";
import { ROOT } from "./sandbox.ts";

/** Whether a fault was found, and by which test. */
interface Result {
  readonly found: boolean;
  readonly by: string;
}

const PATH = join(ROOT, "node_modules/.cache/mutate.json");
/** Minimum shares of found faults. A run fails below them. */
const GOAL = { all: 0.85, folder: 0.75 } as const;

/** Identifies a fault by what it changes, so that a changed fault is tried again. */
function idOf({ file, text, replacement }: Fault): string {
  return createHash("sha256")
    .update(JSON.stringify([file, text, replacement]))
    .digest("hex")
    .slice(0, 16);
}

/** The results of earlier runs, by the id of the fault. */
export class Results {
  #results = readResults();

  of(fault: Fault): Result | undefined {
    return this.#results[idOf(fault)];
  }

  set(fault: Fault, result: Result): void {
    // Another run may have written results since.
    this.#results = { ...readResults(), [idOf(fault)]: result };
    mkdirSync(dirname(PATH), { recursive: true });
    writeFileSync(PATH, JSON.stringify(this.#results, null, 1));
  }
}

function readResults(): Record<string, Result> {
  try {
    return JSON.parse(readFileSync(PATH, "utf8"));
  } catch {
    return {};
  }
}

interface Row {
  readonly folder: string;
  readonly tried: number;
  readonly found: number;
}

function share({ tried, found }: Row): number {
  return tried === 0 ? 1 : found / tried;
}

function rowsOf(faults: readonly Fault[], results: Results): readonly Row[] {
  return [...Map.groupBy(faults, ({ folder }) => folder)].map(([folder, ofFolder]) => {
    const known = ofFolder.flatMap((fault) => results.of(fault) ?? []);
    return { folder, tried: known.length, found: known.filter(({ found }) => found).length };
  });
}

function total(rows: readonly Row[]): Row {
  const sum = (of: (row: Row) => number) => rows.reduce((all, row) => all + of(row), 0);
  return { folder: "all", tried: sum(({ tried }) => tried), found: sum(({ found }) => found) };
}

/** Returns a Markdown table of the tried faults by folder. */
export function resultTable(faults: readonly Fault[], results: Results): string {
  const rows = rowsOf(faults, results).filter(({ tried }) => tried > 0);
  const lines = [...rows, total(rows)].map(
    (row) => `| ${row.folder} | ${row.tried} | ${row.found} | ${Math.round(100 * share(row))} % |`,
  );
  return ["| folder | tried | found | share |", "|---|--:|--:|--:|", ...lines].join("\n");
}

/** Returns whether enough of the tried faults were found, in total and in each folder. */
export function meetsGoal(faults: readonly Fault[], results: Results): boolean {
  const rows = rowsOf(faults, results);
  return share(total(rows)) >= GOAL.all && rows.every((row) => share(row) >= GOAL.folder);
}
