import type { Explanation } from "../../../../base/model/index.ts";
import { END_TEXTS, isHardToSell, sayWarning } from "../../../../base/model/text/end-texts.ts";

interface WarningsProps {
  readonly why: Explanation | undefined;
  readonly isRunning: boolean;
  /** The chart's current canary flag; `undefined` if the token is not in the chart. */
  readonly hasCanary: boolean | undefined;
  /** Why the last flare ended; `undefined` while it runs, or if unknown. */
  readonly lastCause: string | undefined;
}

/** The known warnings of a token. If they are unknown, says so: no warning is no all-clear. */
export function Warnings({ why, isRunning, hasCanary, lastCause }: WarningsProps) {
  const named = why?.warnings.map(sayWarning).join(", ");
  const isEnded = !isRunning && lastCause === "canary";
  const sold = isHardToSell(why) ? "; its prices may not be realizable" : "";
  if (isEnded)
    return (
      <Warned text={`${END_TEXTS.canary} at the end of its last flare${named ? `: ${named}${sold}` : ""}`} />
    );
  if (named) return <Warned text={isRunning ? named : `${named}, when its last flare ended`} />;
  if (hasCanary) return <Warned text={END_TEXTS.canary} />;
  if ((isRunning && why) || hasCanary === false) return <>none</>;
  return <>{why ? "none when its last flare ended" : "not known"}</>;
}

function Warned({ text }: { readonly text: string }) {
  return <span class="warned">⚠ {text}</span>;
}
