import { type ChildProcess, spawn } from "node:child_process";

/**
 * Kills `child` when this process ends, however it ends. A worker of the tests that is killed, or
 * whose setup failed, runs no clean-up, and its children would live on. Returns how to stop
 * watching.
 */
export function endWithThisProcess({ pid }: ChildProcess): () => void {
  if (pid === undefined) return () => {};
  // Its input ends with this process, and only then.
  const watcher = spawn("/bin/sh", ["-c", `read -r _; kill -KILL ${pid}`], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  watcher.unref();
  return () => void watcher.kill("SIGKILL");
}
