import { safeText } from "../../lib/text/safe-text.ts";
import type { FinishCause } from "../explanation.ts";

/** Why a flare ended, in plain words. */
export const END_TEXTS = {
  canary: "possible rug",
  faded: "activity faded",
  reversed: "rise reversed",
  silent: "trading stopped",
  upstream: "no longer listed",
} as const satisfies Record<FinishCause, string>;

export interface Warned {
  readonly warnings: readonly string[];
}

/** Whether many bought and almost nobody sold, so that the flare's prices may not be realizable. */
export function isHardToSell(why: Warned | null | undefined): boolean {
  return why?.warnings.includes("no-seller") === true;
}

/** Formats a warning, which is untrusted text, with spaces: `unverified source`. */
export function sayWarning(warning: string): string {
  return safeText(warning).replaceAll("-", " ");
}
