import type { Call, Inquiry } from "../../../../src/feed/chain/pools/forms/pool-form.ts";

/** Answers an inquiry's calls by the names of their functions. */
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
