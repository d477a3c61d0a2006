import type { Keyboard } from "../terminal/terminal.ts";

/** A keyboard whose keys come one by one. */
export interface KeyGrab {
  /** Gives the keyboard back for a while, as it was. */
  pause(): void;
  /** Takes it again. */
  resume(): void;
  /** Gives it back for good. */
  release(): void;
}

/** Arrows and function keys come as an escape and what follows; everything else as itself. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a keyboard sends it.
const KEYS = /\u001B(?:\[[\d;]*[^\d;]?|O.?)|[\s\S]/g;

/** What was pressed, key by key: a letter as itself, an arrow as its whole sequence. */
function splitKeys(pressed: string): readonly string[] {
  return pressed.match(KEYS) ?? [];
}

/** Hears each key, Ctrl-C too, until it is released. Where there is no keyboard none is. */
export function grabKeys(keyboard: Keyboard | undefined, onKeys: (keys: readonly string[]) => void): KeyGrab {
  if (keyboard?.isTTY !== true) return { pause: () => {}, resume: () => {}, release: () => {} };
  const hear = (chunk: Buffer) => onKeys(splitKeys(chunk.toString("latin1")));
  // A terminal that is gone says so by SIGHUP.
  const ignore = () => {};
  keyboard.setRawMode?.(true);
  keyboard.on("data", hear).on("error", ignore).resume();
  return {
    pause: () => void keyboard.setRawMode?.(false),
    resume: () => void keyboard.setRawMode?.(true),
    release: () => {
      keyboard.off("data", hear);
      keyboard.setRawMode?.(false);
      keyboard.pause();
    },
  };
}
