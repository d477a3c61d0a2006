/*
 * Preloaded into a server's process by `--import`. Measures its turns: the work between two chances
 * for other work. The parent sends `begin`, and later `end`, and gets a {@link LongestTurn}.
 */

/** The longest turn, in ms, by the wall clock and by the CPU time of the main thread. */
export interface LongestTurn {
  readonly wallMs: number;
  readonly cpuMs: number;
}

let isMeasuring = false;
let longest = { wallMs: 0, cpuMs: 0 };

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Runs in each turn while measuring, so the loop never sleeps. */
function measure(wallBefore: number, cpuBefore: number): void {
  const [wall, cpu] = [performance.now(), cpuMs()];
  longest = {
    wallMs: Math.max(longest.wallMs, wall - wallBefore),
    cpuMs: Math.max(longest.cpuMs, cpu - cpuBefore),
  };
  if (isMeasuring) setImmediate(measure, wall, cpu);
}

process.on("message", (order) => {
  if (order === "begin") {
    isMeasuring = true;
    longest = { wallMs: 0, cpuMs: 0 };
    setImmediate(measure, performance.now(), cpuMs());
  } else if (order === "end") {
    isMeasuring = false;
    process.send?.(longest satisfies LongestTurn);
  }
});
process.channel?.unref();
