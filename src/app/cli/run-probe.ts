import { isIP } from "node:net";
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
    service,
    what,
    works,
    detail,
    isNeeded: !isOptional,
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

/** Resolves a host name; rejects if that fails. */
export type LookUp = (name: string) => Promise<unknown>;

/** Maximum time for a look-up. Without a network, some resolvers retry for half a minute. */
const MAX_LOOK_UP_MS = 5_000;

/**
 * Returns all host names if there are several and none resolves, which is the machine's fault;
 * otherwise none.
 */
export async function hostsWithoutDns(
  probes: readonly Probe[],
  lookUp: LookUp,
  clock: Clock,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const names = new Set(probes.flatMap(({ host }) => (host !== undefined && needsDns(host) ? [host] : [])));
  const resolves = async (name: string) => {
    try {
      await withDeadline(() => lookUp(name), MAX_LOOK_UP_MS, clock, signal);
      return true;
    } catch {
      signal.throwIfAborted();
      return false;
    }
  };
  const resolved = await Promise.all([...names].map(resolves));
  return names.size < 2 || resolved.includes(true) ? new Set() : names;
}

function needsDns(host: string): boolean {
  return host !== "localhost" && isIP(host.replace(/^\[|\]$/g, "")) === 0;
}
