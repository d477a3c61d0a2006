import type { Output } from "./terminal.ts";

/** How far a recording was read. */
interface Progress {
  readonly bytesRead: number;
  readonly bytesTotal: number;
  readonly events: number;
  /** Event time reached; 0 before the first event. */
  readonly observedAtMs: number;
}

/** A line with a replay's progress, rewritten in place. */
export interface ProgressLine {
  show(progress: Progress): void;
  clear(): void;
}

/** Creates a progress line on `output`. Silent unless that is a terminal. */
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
