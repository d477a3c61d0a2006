import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type Config, loadConfig, type SettingName, settingsHelp } from "../config/config.ts";
import type { FlagForm } from "../config/flags.ts";
import { createReplayFeed, type ReplayFeed } from "../feed/index.ts";
import { EXIT, type ExitCode, watchShutdown } from "../lib/io/shutdown.ts";
import { systemClock } from "../lib/time/clock.ts";
import { EMPTY_SNAPSHOT, type Snapshot } from "../model/index.ts";
import { FlarewireError } from "../protocol/index.ts";
import { createEngineSource, eventLine, type SnapshotSource, toEvents } from "../source/index.ts";
import { TrendEngine } from "../trend/index.ts";
import { ReplayTally } from "./replay-tally.ts";
import { plainText } from "./terminal/plain-text.ts";
import { type ProgressLine, progressTo } from "./terminal/progress.ts";
import { say, type Terminal } from "./terminal/terminal.ts";
import { openSink, type TextSink } from "./terminal/text-sink.ts";

const SETTINGS: readonly SettingName[] = ["group", "profiles", "refresh", "config"];
const FLAGS: Readonly<Record<string, FlagForm>> = { events: { value: true }, snapshot: { value: true } };

/** What `flarewire replay --help` prints. */
export function replayHelp(): string {
  return `Usage: flarewire replay FILE [options]

Runs a recording through the engine at full speed, without a server, and writes the events that a gateway would have sent.
The first events lead from the empty state to what the recording begins with, so that all of them, applied to the empty state, give
the state at its end. The same recording and options give the same bytes on every run. Progress is shown when standard error is a terminal.

Options:
  --events OUT
      Write each event as a line of JSON to the file OUT, or to standard output for -.
  --snapshot OUT
      Write the state at the recording's end as JSON to the file OUT, or to standard output for -.
${settingsHelp(SETTINGS)}

What cannot be used is told on standard error: lines that the recording should not have (skipped), and market events that
contradict what went before (rejected). The rest is played. The exit code is 1 when no market event could be used.
A recording that is cut in the middle is played up to the cut, and all of that is written; then the exit code is 1, too.`;
}

/** `flarewire replay`. */
export async function replay(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { environment } = terminal;
  const { config, flags } = loadConfig({
    args,
    environment,
    settings: SETTINGS,
    flags: FLAGS,
    positionals: ["file"],
  });
  const [eventsTo, snapshotTo] = [textOf(flags.get("events")), textOf(flags.get("snapshot"))];
  refuseClash(config, eventsTo, snapshotTo);
  const progress = progressTo(terminal.stderr);
  const warn = (line: string) => {
    progress.clear();
    say(terminal, `flarewire replay: ${line}`);
  };
  const feed = openFeed(config, progress, warn);
  const tally = new ReplayTally(
    new TrendEngine({ facts: feed.facts, refreshMs: config.refreshMs }),
    systemClock,
  );
  const source = createEngineSource({
    feed,
    engine: tally.engine,
    clock: systemClock,
    staleAfterMs: Number.POSITIVE_INFINITY,
  });
  const shutdown = watchShutdown(process);
  // Whoever cannot write leaves the recording in the middle; a source closes what it has open when its signal aborts.
  const over = new AbortController();
  const signal = AbortSignal.any([shutdown.signal, over.signal]);
  try {
    const events = await openSink(eventsTo, terminal.stdout);
    const { snapshot, failure } = await play(source, signal, events, tally);
    await events.close();
    const state = await openSink(snapshotTo, terminal.stdout);
    await state.write(`${JSON.stringify(snapshot)}\n`);
    await state.close();
    progress.clear();
    say(terminal, tally.summary(feed.skipped()));
    if (shutdown.signal.aborted && failure !== undefined) {
      warn("stopped before the recording's end");
      return EXIT.retry;
    }
    if (failure !== undefined) throw failure;
    return judge(tally, config, warn);
  } finally {
    over.abort();
    progress.clear();
    shutdown.dispose();
  }
}

/** What a replay that reached its end is worth, with a word where that is not what the user can have wanted. */
function judge(tally: ReplayTally, { group, profiles }: Config, warn: (line: string) => void): ExitCode {
  if (tally.tookNothing) {
    warn("the recording has no market event that could be used");
    return EXIT.usage;
  }
  if (tally.hasIdleCandles && group !== "bsc" && profiles === undefined)
    warn("only tokens of bsc can flare: --group bsc makes a candle file's pairs such tokens");
  return EXIT.clean;
}

/** An output must not overwrite what is read, nor the other output. */
function refuseClash({ file, profiles, config }: Config, ...outputs: readonly (string | undefined)[]): void {
  const taken = new Set(
    [file, profiles, config].map((path) => (path === undefined ? undefined : identity(path))),
  );
  for (const output of outputs) {
    const id = output === undefined || output === "-" ? output : identity(output);
    if (output === undefined || id === undefined) continue;
    if (taken.has(id)) {
      const what = output === "-" ? "standard output" : output;
      throw new FlarewireError(
        "invalid-setting",
        `${what} is named twice: an output needs a file of its own`,
      );
    }
    taken.add(id);
  }
}

/** What tells two names of one file: device and inode where it exists, else its path. Devices such as /dev/null are nobody's. */
function identity(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return resolve(path);
  return stat.isFile() ? `${stat.dev}:${stat.ino}` : undefined;
}

function openFeed(config: Config, progress: ProgressLine, warn: (line: string) => void): ReplayFeed {
  const { file: path, group, profiles: profilesPath } = config;
  return createReplayFeed({
    path,
    speed: Number.POSITIVE_INFINITY,
    clock: systemClock,
    ...(group === undefined ? {} : { group }),
    ...(profilesPath === undefined ? {} : { profilesPath }),
    onProgress: (state) => progress.show(state),
    onSkipped: (reason, line, detail) => {
      const place = line === 0 ? "skipped" : `line ${line} skipped`;
      warn(`${place} (${reason}): ${plainText(detail, 400)}`);
    },
  });
}

interface Played {
  /** The state that the events written lead to. */
  readonly snapshot: Snapshot;
  /** Why it ended before the recording did. */
  readonly failure: unknown;
}

/** Polls to the end, or to a fault of the source, and writes every event; rejects only when it cannot write. */
async function play(
  source: SnapshotSource,
  signal: AbortSignal,
  sink: TextSink,
  tally: ReplayTally,
): Promise<Played> {
  // Unlike a gateway's clients, who are given the first state, a reader of the file begins with nothing.
  let snapshot: Snapshot = EMPTY_SNAPSHOT;
  for (;;) {
    const next = await source.poll(signal).then(
      (poll) => ({ poll, failure: undefined }),
      (failure: unknown) => ({ poll: undefined, failure }),
    );
    if (!next.poll) return { snapshot, failure: next.failure };
    const { snapshot: after, observedAtMs } = next.poll;
    for (const event of toEvents(snapshot, after, observedAtMs)) {
      await sink.write(`${eventLine(tally.count(event), event)}\n`);
    }
    snapshot = after;
  }
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
