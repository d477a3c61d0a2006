/** What a program on a whole terminal does when it is stopped (Ctrl-Z) and continued (`fg`). */
interface JobControl {
  /** Stops the process and all that were started with it, as Ctrl-Z does where the terminal hears it itself. */
  stop(): void;
  /** Signals have their usual effect again. */
  dispose(): void;
}

/** Calls `pause` before the process is stopped, by {@link JobControl.stop} or SIGTSTP, and `resume` when it goes on. After a SIGSTOP, which nobody hears, both are called when it goes on. */
export function watchJobControl({
  pause,
  resume,
}: {
  readonly pause: () => void;
  readonly resume: () => void;
}): JobControl {
  let isPaused = false;
  const pauseOnce = () => {
    if (!isPaused) pause();
    isPaused = true;
  };
  const onStop = () => {
    pauseOnce();
    // Whoever listens to SIGTSTP is not stopped by it.
    process.kill(process.pid, "SIGSTOP");
  };
  const onContinue = () => {
    pauseOnce();
    isPaused = false;
    resume();
  };
  process.on("SIGTSTP", onStop).on("SIGCONT", onContinue);
  return {
    stop: () => {
      // First: a process in the background may not change the terminal any more.
      pauseOnce();
      process.kill(0, "SIGTSTP");
    },
    dispose: () => {
      process.off("SIGTSTP", onStop).off("SIGCONT", onContinue);
    },
  };
}
