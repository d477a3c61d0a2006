import type { Call, Inquiry } from "../../../../src/feeds/chain/pools/forms/pool-form.ts";

/** Runs an inquiry to its end. Answers each call by the name of its function. */
export function answer<T>(
  inquiry: Inquiry<T>,
  answers: Readonly<Record<string, (args: readonly unknown[]) => unknown>>,
): T {
  let step = inquiry.next([]);
  while (!step.done) {
    const results = step.value.map(({ functionName, args = [] }: Call) => answers[functionName]?.(args));
    step = inquiry.next(results);
  }
  return step.value;
}
