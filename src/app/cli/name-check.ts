import { isIP } from "node:net";
import type { Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { withDeadline } from "../../base/lib/time/deadline.ts";

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
