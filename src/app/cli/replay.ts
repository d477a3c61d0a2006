import { statSync } from "node:fs";
import { resolve } from "node:path";
import { systemClock } from "../../base/lib/time/clock.ts";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../base/model/index.ts";
import { type EventBody, FlarewireError } from "../../base/protocol/index.ts";
import { TrendEngine } from "../../engine/index.ts";
import { importCure, type ReplayFeed } from "../../feeds/replay/index.ts";
import { type SnapshotSource, toEvents } from "../../gateway/source/index.ts";
import { type Config, settingsHelp } from "../config/config.ts";
import { type FlagDefinition, flagText } from "../config/flags.ts";
import { engineOptions } from "../engine-options.ts";
import { EngineSource } from "../engine-source.ts";
import { openRecording, PLAY_SETTINGS, readPlay } from "./play-recording.ts";
import { ReplayTally } from "./replay-tally.ts";
import { EXIT, type ExitCode, watchShutdown } from "./shutdown.ts";
import { say, type Terminal } from "./terminal/terminal.ts";
import { openSink, type TextSink } from "./terminal/text-sink.ts";

const FLAGS: Readonly<Record<string, FlagDefinition>> = {
  events: { type: "string" },
  snapshot: { type: "string" },
};

export function replayHelp(): string {
  return `Usage: flarewire replay FILE [options]

Runs a recording through the engine at full speed, without a server, and writes the events that a gateway would have sent.
The first events lead from the empty state to the recording's first state. All events, applied to the empty state, give the
final state. The same recording and options produce the same bytes. Progress is shown if standard error is a terminal.

Options:
  --events OUT
      Write each event as a line of JSON to the file OUT, or to standard output if OUT is -.
  --snapshot OUT
      Write the final state as JSON to the file OUT, or to standard output if OUT is -.
${settingsHelp(PLAY_SETTINGS, { profiles: "none" })}

Reports unusable input on standard error: invalid lines of the recording (skipped), and market events that contradict
earlier ones (rejected). The rest is played. The exit code is 1 if no market event was usable, or most lines were skipped.
A truncated recording is played up to the cut, and all of that is written; the exit code is then 1, too.`;
}

export async function replay(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { config, flags, progress, warn } = readPlay("replay", FLAGS, args, terminal);
  const [eventsTo, snapshotTo] = [flagText(flags, "events"), flagText(flags, "snapshot")];
  refuseClash(config, eventsTo, snapshotTo);
  const feed = openRecording(config, progress, warn);
  const tally = new ReplayTally(new TrendEngine(engineOptions(feed, config.refreshMs)), systemClock);
  const source = new EngineSource({
    feed,
    engine: tally.engine,
    clock: systemClock,
    staleAfterMs: Number.POSITIVE_INFINITY,
  });
  const shutdown = watchShutdown(process);
  // A failed write stops in the middle; the source closes its files when its signal aborts.
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
    return judge(tally, feed, config, warn);
  } finally {
    over.abort();
    progress.clear();
    shutdown.dispose();
  }
}

/** Returns the exit code of a complete replay, and warns if little was usable. */
function judge(
  tally: ReplayTally,
  feed: ReplayFeed,
  { file }: Pick<Config, "file">,
  warn: (line: string) => void,
): ExitCode {
  if (tally.tookNothing) {
    warn("the recording has no usable market event");
    return EXIT.usage;
  }
  const { late = 0, "profile-unused": _, ...others } = feed.skipped();
  const skipped = Object.values(others).reduce((sum, count) => sum + count, late);
  if (skipped > feed.played) {
    const cure =
      late > skipped / 2 ? `; if it lists one pair after another, ${importCure(file ?? "FILE")}` : "";
    warn(
      `most lines of the recording were skipped: ${skipped}, against ${feed.played} that were played${cure}`,
    );
    return EXIT.usage;
  }
  return EXIT.clean;
}

/** Rejects an output that would overwrite an input or the other output. */
function refuseClash({ file, profiles, config }: Config, ...outputs: readonly (string | undefined)[]): void {
  const taken = new Set(
    [file, profiles, config].map((path) => (path === undefined ? undefined : identity(path))),
  );
  for (const output of outputs) {
    const id = output === undefined || output === "-" ? output : identity(output);
    if (output === undefined || id === undefined) continue;
    if (taken.has(id)) {
      const what = output === "-" ? "standard output" : output;
      throw new FlarewireError("invalid-setting", `${what} is used twice; give each output its own file`);
    }
    taken.add(id);
  }
}

/**
 * Identifies a file by device and inode, or by its path if it does not exist. `undefined` if it is
 * not a regular file, such as a pipe.
 */
function identity(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return resolve(path);
  return stat.isFile() ? `${stat.dev}:${stat.ino}` : undefined;
}

interface Played {
  /** The state after the written events. */
  readonly snapshot: Snapshot;
  /** Why the replay ended early, if it did. */
  readonly failure: unknown;
}

/** Polls until the source ends or fails, and writes each event. Rejects if writing fails. */
async function play(
  source: SnapshotSource,
  signal: AbortSignal,
  sink: TextSink,
  tally: ReplayTally,
): Promise<Played> {
  // A gateway's clients get an initial state, but a reader of this file starts from the empty one.
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

/**
 * Formats an event as NDJSON: `{"seq":…,"name":…,"channel":…,"observed_at":…,"data":{…}}`.
 * It uses the event alone (law L4 of src/README.md): no wall-clock time, no log epoch. `seq` starts
 * at 1.
 */
export function eventLine(seq: number, { name, channel, observed_at, data }: EventBody): string {
  return JSON.stringify({ seq, name, channel, observed_at, data });
}
