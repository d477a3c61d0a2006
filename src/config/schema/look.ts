import { statSync } from "node:fs";
import type { PathContent } from "./kinds.ts";

/** Returns what is at a path. */
export function look(path: string): PathContent {
  try {
    const stat = statSync(path);
    if (stat.isFile()) return "file";
    return stat.isDirectory() ? "directory" : "special";
  } catch {
    return "nothing";
  }
}
