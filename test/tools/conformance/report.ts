import type { Result } from "./suite.ts";

/** The result for one rule. */
interface RuleReport {
  readonly rule: string;
  readonly verdict: "passed" | "failed" | "not-tried";
  /** Cases that prove the rule and passed. */
  readonly passed: readonly string[];
  readonly failures: readonly Failing[];
  /** Reasons why it was not tried, with their cases. */
  readonly reasons: readonly string[];
}

interface Failing {
  readonly case: string;
  readonly step: number;
  readonly expected: string;
  readonly came: string;
}

/** The results of a run, by rule. */
interface Report {
  readonly url: string;
  readonly passed: number;
  readonly failed: number;
  readonly not_tried: number;
  readonly rules: readonly RuleReport[];
}

/**
 * Groups results by rule. A rule has failed if any case failed it, and has passed if a case proves
 * it and none failed it.
 */
export function reportOf(
  url: string,
  results: readonly Result[],
  reasons: Readonly<Record<string, string>>,
): Report {
  const broken = results.flatMap(({ outcome }) => (outcome.kind === "failed" ? outcome.rules : []));
  const names = [...new Set([...results.flatMap(({ rules }) => rules), ...broken, ...Object.keys(reasons)])];
  const rules = names.toSorted(byRule).map((rule) => reportRule(rule, results, reasons[rule]));
  const count = (verdict: RuleReport["verdict"]) => rules.filter((one) => one.verdict === verdict).length;
  return { url, passed: count("passed"), failed: count("failed"), not_tried: count("not-tried"), rules };
}

function reportRule(rule: string, results: readonly Result[], reason: string | undefined): RuleReport {
  const passed: string[] = [];
  const failures: Failing[] = [];
  const untried = new Map<string, string[]>();
  for (const { name, rules, outcome } of results) {
    if (outcome.kind === "failed" && outcome.rules.includes(rule)) {
      const { step, expected, came } = outcome;
      failures.push({ case: name, step, expected, came });
    }
    if (!rules.includes(rule)) continue;
    if (outcome.kind === "passed") passed.push(name);
    else if (outcome.kind === "not-tried")
      untried.set(outcome.why, [...(untried.get(outcome.why) ?? []), name]);
    else if (!outcome.rules.includes(rule)) {
      untried.set(`ended at step ${outcome.step}, where ${outcome.rules.join(", ")} failed`, [name]);
    }
  }
  const details = [...untried].map(([why, cases]) => `${why} (${cases.join("; ")})`);
  const reasons = reason === undefined ? details : [reason, ...details];
  const verdict = failures.length > 0 ? "failed" : passed.length > 0 ? "passed" : "not-tried";
  return { rule, verdict, passed, failures, reasons };
}

/** Formats the report for people. */
export function formatReport({ url, passed, failed, not_tried, rules }: Report): string {
  const lines = rules.flatMap(({ rule, verdict, passed: cases, failures, reasons }) => {
    const label = rule.padEnd(WIDTH);
    if (verdict === "passed") return [`passed     ${label} ${cases.join("; ")}`];
    if (verdict === "not-tried") return [`not tried  ${label} ${reasons.join("; ")}`];
    return [
      ...failures.flatMap(({ case: name, step, expected, came }) => [
        `FAILED     ${label} ${name}, step ${step}`,
        `             expected ${expected}`,
        `             received ${came}`,
      ]),
    ];
  });
  return `${lines.join("\n")}\n${url}: ${passed} rules passed, ${failed} failed, ${not_tried} not tried\n`;
}

const WIDTH = 16;

/** The letters of rules, in the order of PROTOCOL.md. */
const KINDS = "WSPTFK";

/** Sorts W2 before W10, and named rules last. */
function byRule(a: string, b: string): number {
  const [left, right] = [a, b].map((rule) => /^([A-Z])(\d+)$/.exec(rule));
  if (left && right) {
    const order = KINDS.indexOf(left[1] ?? "") - KINDS.indexOf(right[1] ?? "");
    return order || Number(left[2]) - Number(right[2]);
  }
  return Number(!left) - Number(!right) || a.localeCompare(b);
}
