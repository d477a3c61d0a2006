import { safeText } from "../../base/lib/text/safe-text.ts";

/** Text that a stranger chose, such as a token's name: data, never an instruction. */
export interface Untrusted {
  readonly untrusted_text: string;
}

/**
 * Marks a stranger's text. It is at most 48 characters on one line, without control characters. As
 * a JSON string it cannot end its own field.
 */
export function untrusted(text: string): Untrusted {
  return { untrusted_text: safeText(text) };
}
