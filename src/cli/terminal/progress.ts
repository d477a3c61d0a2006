import type { ReplayProgress } from "../../feed/index.ts";
import type { Output } from "./terminal.ts";

/** A line that tells how far a replay has come, rewritten in place. */
export interface ProgressLine {
  show(progress: ReplayProgress): void;
  /** Takes the line away, so that what follows stands alone. */
  clear(): void;
}

/** A progress line on `output`; silent when that is no terminal, where each state would be one more line. */
export function progressTo(output: Output): ProgressLine {
  if (output.isTTY !== true) return { show: () => {}, clear: () => {} };
  return {
    show: ({ bytesRead, bytesTotal, events, observedAtMs }) => {
      const percent = bytesTotal === 0 ? 100 : Math.floor((bytesRead / bytesTotal) * 100);
      const at =
        observedAtMs === 0 ? "" : new Date(observedAtMs).toISOString().slice(0, 16).replace("T", " ");
      output.write(
        `\r\u001B[2K${`${percent} %  ${at}  ${events} market events`.slice(0, (output.columns ?? 80) - 1)}`,
      );
    },
    clear: () => void output.write("\r\u001B[2K"),
  };
}
