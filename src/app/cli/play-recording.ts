import { systemClock } from "../../base/lib/time/clock.ts";
import { ReplayFeed, type ReplayProgress } from "../../feeds/replay/index.ts";
import { type Config, loadConfig, type SettingName } from "../config/config.ts";
import type { FlagDefinition } from "../config/flags.ts";
import { plainText } from "./terminal/plain-text.ts";
import { type Output, say, type Terminal } from "./terminal/terminal.ts";

/** The settings of commands that play a recording at full speed. */
export const PLAY_SETTINGS: readonly SettingName[] = ["group", "profiles", "refresh", "config"];

/** A line with a replay's progress, rewritten in place. */
interface ProgressLine {
  show(progress: ReplayProgress): void;
  clear(): void;
}

/** Reads the arguments of a command that plays a recording, and reports on standard error. */
export function readPlay(
  command: string,
  flags: Readonly<Record<string, FlagDefinition>>,
  args: readonly string[],
  terminal: Terminal,
) {
  const { environment, stderr } = terminal;
  const progress = progressTo(stderr);
  const warn = (line: string) => {
    progress.clear();
    say(terminal, `flarewire ${command}: ${line}`);
  };
  const read = loadConfig({ args, environment, settings: PLAY_SETTINGS, flags, positionals: ["file"] });
  return { ...read, progress, warn };
}

/** Opens a recording to play it at full speed. */
export function openRecording(
  config: Config,
  progress: ProgressLine,
  warn: (line: string) => void,
): ReplayFeed {
  const { file: path, group, profiles: profilesPath } = config;
  return new ReplayFeed({
    path,
    speed: Number.POSITIVE_INFINITY,
    clock: systemClock,
    ...(group === undefined ? {} : { group }),
    ...(profilesPath === undefined ? {} : { profilesPath }),
    onProgress: (state) => progress.show(state),
    onSkipped: (reason, line, detail) => {
      const prefix = line === 0 ? "skipped" : `line ${line} skipped`;
      warn(`${prefix} (${reason}): ${plainText(detail, 400)}`);
    },
  });
}

/** Creates a progress line on `output`. Silent unless that is a terminal. */
function progressTo(output: Output): ProgressLine {
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
