import { z } from "zod";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { DeadlineExpired, withDeadline } from "../../base/lib/time/deadline.ts";

/** Tests one function of an external service that a live market needs. */
export interface Probe {
  /** The service: `binance`, `coingecko`. */
  readonly service: string;
  /** The subject: `markets`, `stream`. */
  readonly what: string;
  /**
   * The service's host, without a port: a name or an address. `undefined`: no separate test of the
   * name.
   */
  readonly host?: string;
  /** Not required: a failure is reported but is no fault. Default false. */
  readonly isOptional?: boolean;
  /**
   * Runs the test. Resolves with a short result; rejects with an Error whose message has no URL.
   */
  readonly run: (signal: AbortSignal) => Promise<string>;
}

export type HostlessProbe = Omit<Probe, "host">;

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
