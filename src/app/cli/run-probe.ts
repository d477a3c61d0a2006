import { z } from "zod";
import type { Probe } from "../../base/lib/probe.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { DeadlineExpired, withDeadline } from "../../base/lib/time/deadline.ts";

export interface Finding {
  readonly service: string;
  readonly what: string;
  readonly works: boolean;
  readonly isNeeded: boolean;
  readonly detail: string;
  readonly tookMs: number;
}

/** Timeout of a probe. */
const MAX_MS = 45_000;

/** Runs a probe. A failure is a finding too. Rejects only with the signal's reason. */
export async function runProbe(
  { service, what, run, isOptional = false }: Probe,
  clock: Clock,
  signal: AbortSignal,
): Promise<Finding> {
  const began = clock.monotonic();
  const finding = (works: boolean, detail: string): Finding => ({
    ...{ service, what, works, detail, isNeeded: !isOptional },
    tookMs: Math.round(clock.monotonic() - began),
  });
  try {
    return finding(true, await withDeadline(run, MAX_MS, clock, signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DeadlineExpired) return finding(false, error.message);
    if (error instanceof z.ZodError) return finding(false, "returned data of an unexpected type");
    return finding(false, messageOf(error));
  }
}
