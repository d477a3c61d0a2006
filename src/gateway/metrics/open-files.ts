import { readdirSync, readFileSync } from "node:fs";

/** Number of open files of this process, with its limit. `undefined` except on Linux. */
export function openFiles(): { readonly open: number; readonly limit: number } | undefined {
  try {
    const [, limit] =
      /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    if (limit === undefined) return undefined;
    const open = readdirSync("/proc/self/fd").length;
    return { open, limit: limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit) };
  } catch {
    return undefined;
  }
}
