import type { FinishCause } from "../explanation.ts";

/** Why a flare ended, in plain words. */
export const END_TEXTS = {
  canary: "possible rug",
  faded: "back to normal",
  silent: "trading stopped",
  upstream: "no longer listed",
} as const satisfies Record<FinishCause, string>;
