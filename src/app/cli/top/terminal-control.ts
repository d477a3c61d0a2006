import type { Keyboard } from "../terminal/terminal.ts";

export type KeyGrab = ReturnType<typeof grabKeys>;

/** Matches one key: an escape sequence for arrows and function keys, or a single character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a keyboard sends it.
const KEYS = /\u001B(?:\[[\d;]*[^\d;]?|O.?)|[\s\S]/gu;

function splitKeys(pressed: string): readonly string[] {
  return pressed.match(KEYS) ?? [];
}

/** Reports each key, Ctrl-C too, until released. Does nothing unless the input is a terminal. */
export function grabKeys(keyboard: Keyboard | undefined, onKeys: (keys: readonly string[]) => void) {
  if (keyboard?.isTTY !== true) return { pause: () => {}, resume: () => {}, release: () => {} };
  const hear = (chunk: Buffer) => onKeys(splitKeys(chunk.toString("utf8")));
  // A lost terminal also sends SIGHUP.
  const ignore = () => {};
  keyboard.setRawMode?.(true);
  keyboard.on("data", hear).on("error", ignore).resume();
  return {
    /** Restores the terminal's normal mode until `resume`. */
    pause: () => void keyboard.setRawMode?.(false),
    resume: () => void keyboard.setRawMode?.(true),
    /** Restores the terminal's normal mode for good. */
    release: () => {
      keyboard.off("data", hear);
      keyboard.setRawMode?.(false);
      keyboard.pause();
    },
  };
}

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
