import { readdirSync, readFileSync } from "node:fs";

/**
 * What a process used of the processor since its start, all threads together, in microseconds.
 * Throws when it is over. Linux only.
 */
export function cpuMicros(pid: number): number {
  let nanoseconds = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    // The scheduler's own count is exact to the nanosecond; the better known one of `stat` counts
    // hundredths of a second.
    const [ran = "0"] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ");
    nanoseconds += Number(ran);
  }
  return nanoseconds / 1_000;
}

function statusKib(pid: number, field: "VmRSS" | "VmHWM"): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (!line) throw new Error(`process ${pid} has no ${field}`);
  return Number(line[1]);
}

/**
 * Resident memory of a process now, in bytes. Counts pages of the program and its libraries too:
 * for a connection's share take the difference of two.
 */
export function rssBytes(pid: number): number {
  return statusKib(pid, "VmRSS") * 1_024;
}

/** The most that {@link rssBytes} was since the process began. */
export function peakRssBytes(pid: number): number {
  return statusKib(pid, "VmHWM") * 1_024;
}
