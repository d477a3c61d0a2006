import { type Case, Step } from "./case-format.ts";
import { fill } from "./fill.ts";
import { fetchResponse } from "./http.ts";
import { valueAt } from "./json.ts";
import type { TransportName } from "./line.ts";
import { Gap } from "./place.ts";
import { type Context, Run } from "./run.ts";
import { performStep } from "./steps.ts";
import { Failure, NotTried, Unreachable } from "./verdict.ts";

/** The result of a case. */
export type Outcome =
  | { readonly kind: "passed" }
  | {
      readonly kind: "failed";
      readonly rules: readonly string[];
      readonly expected: string;
      readonly came: string;
      /** Number of the failed step, from 1. */
      readonly step: number;
    }
  | { readonly kind: "not-tried"; readonly why: string };

/** Maximum runs of a case in which the market changes at the wrong moment. */
const MAX_RUNS = 20;

/** Runs a case. Rejects with Unreachable, and with an Error if the case itself is wrong. */
export async function runCase(
  one: Case,
  transport: TransportName | undefined,
  context: Context,
): Promise<Outcome> {
  for (let run = 1; ; run += 1) {
    const { again, outcome } = await runOnce(one, transport, context);
    if (!again || run === MAX_RUNS) return outcome;
  }
}

async function runOnce(
  { steps, rules }: Case,
  transport: TransportName | undefined,
  context: Context,
): Promise<{ readonly again?: boolean; readonly outcome: Outcome }> {
  const run = new Run(context, transport);
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
    const failure =
      error instanceof Gap || error instanceof Unreachable ? await findCause(error, run) : error;
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
  // Every step was well-formed when it was loaded, so a saved value from the server is missing.
  const missing = error.issues.map(({ path }) => path.join(".")).join(", ");
  throw new Failure(`a value for ${missing} of the step`, "no usable value");
}

/**
 * Finds the cause of an error. For a gap, checks whether the history has the omitted event;
 * otherwise `prev` is wrong. For a failed request, checks whether the server still responds;
 * rejects if not.
 */
async function findCause(error: Gap | Unreachable, { context: { target, signal } }: Run): Promise<Failure> {
  if (error instanceof Unreachable) {
    await fetchResponse(target, { path: "/healthz" }, signal);
    return new Failure("a complete response", error.message);
  }
  const { expected, came, after, seq, selection } = error;
  if (error.isFirst) return new Failure(expected, came, ["W9"]);
  const request = { path: "/api/v1/events", query: { ...selection, after, limit: "1" } };
  const first = valueAt((await fetchResponse(target, request, signal)).body, "/events/0/seq");
  if (typeof first !== "number" || first >= seq) return new Failure(expected, came, ["W15"]);
  return new Failure(`event ${first} between ${after} and event ${seq}`, "it was omitted", ["W13"]);
}
