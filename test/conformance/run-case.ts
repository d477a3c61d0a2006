import { type Case, Step } from "./case-format.ts";
import { fill } from "./fill.ts";
import { ask } from "./http.ts";
import { valueAt } from "./json.ts";
import type { TransportName } from "./line.ts";
import { Hole } from "./place.ts";
import { Run, type Surroundings } from "./run.ts";
import { performStep } from "./steps.ts";
import { Failure, NotTried, Unreachable } from "./verdict.ts";

/** What came of a case. */
export type Outcome =
  | { readonly kind: "passed" }
  | {
      readonly kind: "failed";
      readonly rules: readonly string[];
      readonly expected: string;
      readonly came: string;
      /** Which step, counted from 1. */
      readonly step: number;
    }
  | { readonly kind: "not-tried"; readonly why: string };

/** How often a case is run in which the market changed at the wrong moment. */
const MAX_RUNS = 20;

/** Runs a case to its end. Rejects with Unreachable, and for a case that is written wrongly. */
export async function runCase(
  one: Case,
  transport: TransportName | undefined,
  surroundings: Surroundings,
): Promise<Outcome> {
  for (let run = 1; ; run += 1) {
    const { again, outcome } = await runOnce(one, transport, surroundings);
    if (!again || run === MAX_RUNS) return outcome;
  }
}

async function runOnce(
  { steps, rules }: Case,
  transport: TransportName | undefined,
  surroundings: Surroundings,
): Promise<{ readonly again?: boolean; readonly outcome: Outcome }> {
  const run = new Run(surroundings, transport);
  let at = 0;
  try {
    for (const step of steps) {
      at += 1;
      await perform(step, run);
      run.checkLines();
    }
    return { outcome: { kind: "passed" } };
  } catch (error) {
    if (error instanceof NotTried)
      return { again: error.again, outcome: { kind: "not-tried", why: error.message } };
    const failure = error instanceof Hole || error instanceof Unreachable ? await judge(error, run) : error;
    if (!(failure instanceof Failure)) throw new Error(`step ${at}: ${String(failure)}`, { cause: failure });
    const { expected, came } = failure;
    const broken = failure.rules ?? steps[at - 1]?.rules ?? rules;
    return { outcome: { kind: "failed", rules: broken, expected, came, step: at } };
  } finally {
    await run.finish();
  }
}

async function perform(step: Step, run: Run): Promise<void> {
  const { data, error } = Step.safeParse(fill(step, run.saved));
  if (data) return performStep(data, run);
  // Every step was well-formed when it was loaded, so it is what the server said that is missing in
  // it.
  const missing = error.issues.map(({ path }) => path.join(".")).join(", ");
  throw new Failure(`something to use as ${missing} of the step`, "nothing that could be");
}

/**
 * Finds out more about what went wrong: whether the history has an event that was left out, or else
 * `prev` is wrong; whether the server cut one answer, or else is gone, which rejects.
 */
async function judge(error: Hole | Unreachable, { surroundings: { target, signal } }: Run): Promise<Failure> {
  if (error instanceof Unreachable) {
    await ask(target, { path: "/healthz" }, signal);
    return new Failure("an answer to its end", error.message);
  }
  const { expected, came, after, seq, selection } = error;
  if (error.isFirst) return new Failure(expected, came, ["W9"]);
  const question = { path: "/api/v1/events", query: { ...selection, after, limit: "1" } };
  const first = valueAt((await ask(target, question, signal)).body, "/events/0/seq");
  if (typeof first !== "number" || first >= seq) return new Failure(expected, came, ["W15"]);
  return new Failure(`event ${first} between ${after} and event ${seq}`, "it was left out", ["W13"]);
}
