import { execFileSync } from "node:child_process";

/** Another apt-get works: on its package lists, on its archives, or as dpkg. */
const IS_LOCKED = /could not get lock|unable to (?:acquire|lock)/i;

interface AptGetOptions {
  readonly cwd?: string;
  /** Milliseconds for the work itself, and as many for waiting. Default five minutes. */
  readonly maxMs?: number;
  /** Default a second. */
  readonly pauseMs?: number;
}

/** Runs apt-get, and again while another process has its lock. Throws with what it complains of. */
export function aptGet(
  args: readonly string[],
  { cwd = ".", maxMs = 300_000, pauseMs = 1_000 }: AptGetOptions = {},
): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const giveUpAt = performance.now() + maxMs;
  for (;;) {
    try {
      execFileSync("apt-get", args, { cwd, env, stdio: "pipe", timeout: maxMs });
      return;
    } catch (error) {
      const isLocked = error instanceof Error && IS_LOCKED.test(error.message);
      if (!isLocked || performance.now() > giveUpAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}
