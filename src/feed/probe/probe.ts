import { z } from "zod";
import { messageOf } from "../../lib/text/message-of.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { DeadlineExpired, withDeadline } from "../../lib/time/deadline.ts";

/** One thing that a live market needs of a service of others, to be tried by itself. */
export interface Probe {
  /** Whose it is: `binance`, `coingecko`. */
  readonly service: string;
  /** What is tried: `markets`, `stream`. */
  readonly what: string;
  /** The service's host, without a port: a name or an address. */
  readonly host: string;
  /** Nothing that is needed: that it does not work is told, and no fault. Default false. */
  readonly isOptional?: boolean;
  /** Tries it once; resolves with what came, in a few words. Throws an Error whose message says what is wrong, without addresses. */
  readonly run: (signal: AbortSignal) => Promise<string>;
}

/** A probe before its service's host is named. */
export type HostlessProbe = Omit<Probe, "host">;

/** How a probe went. */
export interface Finding {
  readonly service: string;
  readonly what: string;
  readonly works: boolean;
  /** Whether it is needed. */
  readonly isNeeded: boolean;
  /** What came, or what is wrong. */
  readonly detail: string;
  readonly tookMs: number;
}

/** Longest that a probe may take. */
const MAX_MS = 45_000;

/** Runs a probe; rejects only with the signal's reason. */
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
    if (error instanceof z.ZodError) return finding(false, "answers with what is of another type");
    return finding(false, messageOf(error));
  }
}
