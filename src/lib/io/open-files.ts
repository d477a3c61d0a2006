import { readdirSync, readFileSync } from "node:fs";

/** Files, sockets included, that this process has open and may have open; `undefined` where the system does not tell, as on any but Linux. */
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
