import type { Explanation } from "../../../model/index.ts";
import { sayWarning } from "../stranger.tsx";

interface WarningsProps {
  /** Of the flare that runs, or else of the last one. */
  readonly why: Explanation | undefined;
  readonly isRunning: boolean;
  /** Whether the chart warns of the token now; `undefined` where it is in none. */
  readonly hasCanary: boolean | undefined;
  /** Why the last flare ended; `undefined` while it runs, or where nobody knows. */
  readonly lastCause: string | undefined;
}

/** The warnings of a token, as far as they are known: silence about a token that nobody judged is no all-clear. */
export function Warnings({ why, isRunning, hasCanary, lastCause }: WarningsProps) {
  const named = why?.warnings.map(sayWarning).join(", ");
  const isEnded = !isRunning && lastCause === "canary";
  if (isEnded) return <Warned text={`the canary ended its last flare${named ? `: ${named}` : ""}`} />;
  if (named) return <Warned text={isRunning ? named : `${named}, when its last flare ended`} />;
  if (hasCanary) return <Warned text="the canary warns of this token" />;
  if ((isRunning && why) || hasCanary === false) return <>none</>;
  return <>{why ? "none when its last flare ended" : "not known"}</>;
}

function Warned({ text }: { readonly text: string }) {
  return <span class="warned">⚠ {text}</span>;
}
