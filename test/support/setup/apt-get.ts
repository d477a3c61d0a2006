import { execFileSync } from "node:child_process";

/** Another process has locked the package lists, the archives or dpkg. */
const IS_LOCKED = /could not get lock|unable to (?:acquire|lock)/i;

interface AptGetOptions {
  readonly cwd?: string;
  /** Limit in ms for one run, and for all retries together. Default: five minutes. */
  readonly maxMs?: number;
  /** Pause between two attempts in ms. Default: one second. */
  readonly pauseMs?: number;
}

/** Runs apt-get and retries while another process holds its lock. Throws with apt's message. */
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
