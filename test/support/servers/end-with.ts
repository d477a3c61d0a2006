import { type ChildProcess, spawn } from "node:child_process";

/**
 * Kills `child` when this process ends, for whatever reason. Returns a function that stops
 * watching. A test worker that is killed, or whose setup failed, runs no clean-up, so its children
 * would keep running.
 */
export function endWithThisProcess({ pid }: ChildProcess): () => void {
  if (pid === undefined) return () => {};
  // The watcher's standard input ends exactly when this process ends.
  const watcher = spawn("/bin/sh", ["-c", `read -r _; kill -KILL ${pid}`], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  watcher.unref();
  return () => void watcher.kill("SIGKILL");
}
