import { readFileSync } from "node:fs";

/** Returns the boot id, if the system has one. While it is the same, no power was lost. */
export function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
