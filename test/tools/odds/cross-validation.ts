import { createHash } from "node:crypto";
import type { Odds, Outcome } from "../../../src/base/model/index.ts";
import { OwnOdds } from "../../../src/extensions/odds/index.ts";
import type { Ended } from "./collect.ts";
import { makeTable } from "./make-table.ts";

const FOLDS = 5;
const SEEDS = 5;
/** Bounds of the shares that are compared with what happened. */
const SAID = [0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.01];

type Question = "rug_60m" | "up_15m" | "up_60m" | "fall_15m";
const TRUTHS: Readonly<Record<Question, (outcome: Outcome) => boolean | null>> = {
  rug_60m: ({ held }) => held?.rugged_s != null,
  up_15m: ({ held }) => isAbove(held?.change_15m),
  up_60m: ({ held }) => isAbove(held?.change_60m),
  fall_15m: ({ held }) => (held?.lowest_15m == null ? null : held.lowest_15m <= -3),
};

interface Told {
  readonly share: number;
  readonly bucket: string;
  readonly isTrue: boolean;
}

/** Returns the report: Brier skill over the base rate, and said against observed. */
export function crossValidate(flares: readonly Ended[]): string {
  const lines = [
    `${flares.length} flares of ${tokensOf(flares).length} tokens; ${FOLDS} folds over tokens, ${SEEDS} times`,
  ];
  for (const question of Object.keys(TRUTHS).filter(isQuestion)) {
    const runs = Array.from({ length: SEEDS }, (_, seed) => tellAll(flares, question, seed));
    const skills = runs.map(skillOf);
    const [first = []] = runs;
    if (first.length === 0) continue;
    lines.push(
      "",
      `${question}: n ${first.length}, base ${percent(mean(first.map(truth)))}, Brier skill ${mean(skills).toFixed(3)} (${skills.map((skill) => skill.toFixed(3)).join(", ")})`,
    );
    lines.push(...groupedLines(runs.flat(), runs.length, ({ share }) => saidRange(share)));
    lines.push(
      ...groupedLines(runs.flat(), runs.length, ({ bucket }) => bucket).filter(
        (line) => !line.includes("few"),
      ),
    );
  }
  return lines.join("\n");
}

function tellAll(flares: readonly Ended[], question: Question, seed: number): readonly Told[] {
  const folds = foldsOf(tokensOf(flares), seed);
  return Array.from({ length: FOLDS }, (_, fold) => fold).flatMap((fold) => {
    const book = new OwnOdds(
      "recorded",
      makeTable(flares.filter(({ start }) => folds.get(start.token) !== fold)),
    );
    return flares.flatMap(({ start, outcome }) => {
      if (folds.get(start.token) !== fold) return [];
      const { odds } = book.odds(start);
      const isTrue = TRUTHS[question](outcome);
      const frequency = odds?.[question];
      return odds && frequency && isTrue !== null
        ? [{ share: frequency.share, bucket: bucketOf(odds), isTrue }]
        : [];
    });
  });
}

function isQuestion(text: string): text is Question {
  return text in TRUTHS;
}

function isAbove(change: number | null | undefined): boolean | null {
  return change == null ? null : change > 0;
}

/** Compares said and observed by group, in the average run. */
function groupedLines(told: readonly Told[], runs: number, nameOf: (one: Told) => string): string[] {
  const groups = new Map<string, Told[]>();
  for (const one of told) groups.set(nameOf(one), [...(groups.get(nameOf(one)) ?? []), one]);
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, own]) => {
      const [said, observed] = [mean(own.map(({ share }) => share)), mean(own.map(truth))];
      const n = Math.round(own.length / runs);
      const isFar = n >= 100 && Math.abs(said - observed) > 0.05;
      return `  ${name}: n ${n}, said ${percent(said)}, observed ${percent(observed)}${isFar ? "  MORE THAN 5 POINTS APART" : ""}`;
    });
}

function saidRange(share: number): string {
  const at = SAID.findLastIndex((bound) => share >= bound);
  return `said ${SAID[at]} to ${SAID[at + 1]}`;
}

function bucketOf({ like: { form, ...ranges } }: Odds): string {
  const texts = Object.entries(ranges).map(([name, span]) =>
    typeof span === "object" ? `${name} ${span.at_least ?? ""}..${span.below ?? ""}` : `${name} ${span}`,
  );
  return [form, ...texts].join(", ");
}

/** Brier skill over the base rate. */
function skillOf(told: readonly Told[]): number {
  const base = mean(told.map(truth));
  const score = (share: (one: Told) => number) => mean(told.map((one) => (share(one) - truth(one)) ** 2));
  return 1 - score(({ share }) => share) / score(() => base);
}

/** Assigns each token a fold, at random but the same for a seed. */
function foldsOf(tokens: readonly string[], seed: number): ReadonlyMap<string, number> {
  const hash = (text: string) => createHash("sha256").update(`${seed} ${text}`).digest("hex");
  const shuffled = tokens
    .map((token) => ({ token, order: hash(token) }))
    .sort((a, b) => (a.order < b.order ? -1 : 1));
  return new Map(shuffled.map(({ token }, index) => [token, index % FOLDS]));
}

function tokensOf(flares: readonly Ended[]): readonly string[] {
  return [...new Set(flares.map(({ start }) => start.token))];
}

function truth({ isTrue }: Told): number {
  return isTrue ? 1 : 0;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
