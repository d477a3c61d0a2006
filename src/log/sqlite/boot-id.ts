import { readFileSync } from "node:fs";

/**
 * Returns an id that changes with each boot; `undefined` if the system has none. A file that was
 * written and read within one boot has not been through a power loss.
 */
export function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
