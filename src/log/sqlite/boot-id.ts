import { readFileSync } from "node:fs";

/**
 * Names the machine's present run: another one after each start. `undefined` where the system does not tell. What one process wrote and
 * the next finds within one run has not been through a loss of power.
 */
export function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
