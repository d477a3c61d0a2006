import { readFileSync } from "node:fs";

/** Returns the ids of the processes that a process started and that have not ended. Linux only. */
export function childrenOf(pid: number | undefined): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}
