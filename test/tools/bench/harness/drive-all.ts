import type { LoadClient, Run } from "./load-client.ts";
import { cpuMicros } from "./process-cost.ts";

/** Time for the last batch to reach the clients that do not drive. */
const SPARE_MS = 1_500;

/** The CPU time of these processes so far, in microseconds. */
export function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
}

/**
 * Drives from the last client while the others count. Resolves with the driver's run, the
 * deliveries of all clients, and the processes' CPU time for each delivery in microseconds.
 */
export async function driveAll(
  clients: readonly LoadClient[],
  pids: readonly number[],
  drive: { readonly ms: number; readonly everyUs: number },
): Promise<Run & { readonly us: number }> {
  const before = cpuOf(pids);
  const [driver, ...others] = clients.toReversed();
  if (!driver) throw new Error("no client is connected");
  const watched = others.map((client) => client.watch(drive.ms + SPARE_MS));
  const run = await driver.drive(drive);
  const rest = await Promise.all(watched);
  const deliveries = rest.reduce((sum, one) => sum + one.deliveries, run.deliveries);
  return { ...run, deliveries, us: (cpuOf(pids) - before) / deliveries };
}
