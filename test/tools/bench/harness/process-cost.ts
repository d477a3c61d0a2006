import { readdirSync, readFileSync } from "node:fs";

/**
 * Returns the CPU time of a process since its start, over all threads, in microseconds. Throws if
 * the process has exited. Linux only.
 */
export function cpuMicros(pid: number): number {
  let nanoseconds = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    // The scheduler's count is exact to the nanosecond. `stat` counts hundredths of a second.
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
 * Returns the process's resident memory in bytes, including pages of the program and its libraries.
 * For a connection's share, use the difference of two values.
 */
export function rssBytes(pid: number): number {
  return statusKib(pid, "VmRSS") * 1_024;
}

/** Returns the maximum of {@link rssBytes} since the process began. */
export function peakRssBytes(pid: number): number {
  return statusKib(pid, "VmHWM") * 1_024;
}
