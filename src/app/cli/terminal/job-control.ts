/**
 * Handles stop (Ctrl-Z) and continue (`fg`) for a full-screen program: calls `pause` before a stop
 * and `resume` after it. After SIGSTOP, both run on continuing.
 */
export function watchJobControl({
  pause,
  resume,
}: {
  readonly pause: () => void;
  readonly resume: () => void;
}) {
  let isPaused = false;
  const pauseOnce = () => {
    if (!isPaused) pause();
    isPaused = true;
  };
  const onStop = () => {
    pauseOnce();
    // A handler of SIGTSTP prevents the stop, so stop explicitly.
    process.kill(process.pid, "SIGSTOP");
  };
  const onContinue = () => {
    pauseOnce();
    isPaused = false;
    resume();
  };
  process.on("SIGTSTP", onStop).on("SIGCONT", onContinue);
  return {
    /** Stops the process group, like Ctrl-Z on a terminal in normal mode. */
    stop: () => {
      // Pause first: a background process may not change the terminal.
      pauseOnce();
      process.kill(0, "SIGTSTP");
    },
    dispose: () => {
      process.off("SIGTSTP", onStop).off("SIGCONT", onContinue);
    },
  };
}
