import { statSync } from "node:fs";

/** Returns the kind of file at a path. `special`: a pipe, device or socket. */
export function look(path: string): "file" | "directory" | "special" | "nothing" {
  try {
    const stat = statSync(path);
    if (stat.isFile()) return "file";
    return stat.isDirectory() ? "directory" : "special";
  } catch {
    return "nothing";
  }
}
