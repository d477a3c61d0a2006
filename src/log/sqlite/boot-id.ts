import { readFileSync } from "node:fs";

/** Changes with each boot, if the system has an id. Within one boot no power was lost. */
export function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
