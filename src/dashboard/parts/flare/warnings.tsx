import type { Explanation } from "../../../model/index.ts";
import { sayWarning } from "../untrusted-text.tsx";

interface WarningsProps {
  readonly why: Explanation | undefined;
  readonly isRunning: boolean;
  /** The chart's current canary flag; `undefined` if the token is not in the chart. */
  readonly hasCanary: boolean | undefined;
  /** Why the last flare ended; `undefined` while it runs, or if unknown. */
  readonly lastCause: string | undefined;
}

/** The known warnings of a token. Unknown is shown as such, because silence is no all-clear. */
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
