import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { FlagForm } from "../config/flags.ts";
import { type Config, loadConfig, type SettingName, settingsHelp } from "../config.ts";
import { createReplayFeed, type ReplayFeed } from "../feed/index.ts";
import { systemClock } from "../lib/clock.ts";
import { EXIT, type ExitCode, watchShutdown } from "../lib/shutdown.ts";
import type { MarketEvent } from "../market/index.ts";
import { EMPTY_SNAPSHOT, type Snapshot } from "../model/index.ts";
import { type EventBody, FlarewireError } from "../protocol/index.ts";
import {
  createEngineSource,
  eventLine,
  type PolledEngine,
  type SnapshotSource,
  toEvents,
} from "../source/index.ts";
import { TrendEngine } from "../trend/index.ts";
import { type ProgressLine, progressTo } from "./progress.ts";
import { say, type Terminal } from "./terminal.ts";
import { openSink, type TextSink } from "./text-sink.ts";

const SETTINGS: readonly SettingName[] = ["group", "profiles", "refresh", "config"];
const FLAGS: Readonly<Record<string, FlagForm>> = { events: { value: true }, snapshot: { value: true } };

/** What `flarewire replay --help` prints. */
export function replayHelp(): string {
  return `Usage: flarewire replay FILE [options]

Runs a recording through the engine at full speed, without a server, and writes the events that a gateway would have sent.
The same recording and options give the same bytes on every run. Progress is shown when standard error is a terminal.

Options:
  --events OUT
      Write each event as a line of JSON to the file OUT, or to standard output for -.
  --snapshot OUT
      Write the state at the recording's end as JSON to the file OUT, or to standard output for -.
${settingsHelp(SETTINGS)}

A recording that is cut in the middle is played up to the cut, and all of that is written; then the exit code is 1.`;
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
  const tally = new Tally();
  const feed = openFeed(config, progress);
  const engine = tally.watch(new TrendEngine({ facts: feed.facts, refreshMs: config.refreshMs }));
  const source = createEngineSource({
    feed,
    engine,
    clock: systemClock,
    staleAfterMs: Number.POSITIVE_INFINITY,
  });
  const shutdown = watchShutdown(process);
  try {
    const events = await openSink(eventsTo, terminal.stdout);
    const { snapshot, failure } = await play(source, shutdown.signal, events, tally);
    await events.close();
    const state = await openSink(snapshotTo, terminal.stdout);
    await state.write(`${JSON.stringify(snapshot)}\n`);
    await state.close();
    progress.clear();
    say(terminal, tally.summary(feed.skipped()));
    if (failure === undefined) return EXIT.clean;
    if (shutdown.signal.aborted) {
      say(terminal, "flarewire replay: stopped before the recording's end");
      return EXIT.retry;
    }
    throw failure;
  } finally {
    progress.clear();
    shutdown.dispose();
  }
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

function openFeed(config: Config, progress: ProgressLine): ReplayFeed {
  const { file: path, group, profiles: profilesPath } = config;
  return createReplayFeed({
    path,
    speed: Number.POSITIVE_INFINITY,
    clock: systemClock,
    ...(group === undefined ? {} : { group }),
    ...(profilesPath === undefined ? {} : { profilesPath }),
    onProgress: (state) => progress.show(state),
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
  tally: Tally,
): Promise<Played> {
  let snapshot: Snapshot | undefined;
  for (;;) {
    const next = await source.poll(signal).then(
      (poll) => ({ poll, failure: undefined }),
      (failure: unknown) => ({ poll: undefined, failure }),
    );
    if (!next.poll) return { snapshot: snapshot ?? EMPTY_SNAPSHOT, failure: next.failure };
    // As in a gateway, the first state is the base and yields no events.
    const { snapshot: after, observedAtMs } = next.poll;
    for (const event of snapshot ? toEvents(snapshot, after, observedAtMs) : []) {
      await sink.write(`${eventLine(tally.count(event), event)}\n`);
    }
    snapshot = after;
  }
}

/** What of the market the summary names, where there is any. */
const MARKET_FACTS = [
  ["candle", "candles"],
  ["trade", "trades"],
  ["listing", "listings"],
] as const;

/** Counts what the summary tells. */
class Tally {
  readonly #taken = new Map<MarketEvent["kind"], number>();
  #events = 0;
  #flares = 0;
  readonly #startedAt = performance.now();

  /** The same engine, with what it takes counted. */
  watch(engine: PolledEngine): PolledEngine {
    return {
      accept: (event) => {
        this.#taken.set(event.kind, (this.#taken.get(event.kind) ?? 0) + 1);
        return engine.accept(event);
      },
      get clockMs() {
        return engine.clockMs;
      },
      get nextChangeAtMs() {
        return engine.nextChangeAtMs;
      },
      snapshot: () => engine.snapshot(),
    };
  }

  /** Takes an event, and returns its place, from 1. */
  count(event: EventBody): number {
    this.#events += 1;
    if (event.name === "flare-started" && event.channel === "flares.pro") this.#flares += 1;
    return this.#events;
  }

  summary(skipped: Readonly<Record<string, number | undefined>>): string {
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1);
    const lines = Object.entries(skipped).map(([reason, count]) => `${count} ${reason}`);
    const left = lines.length === 0 ? "" : `; skipped: ${lines.join(", ")}`;
    const market = MARKET_FACTS.flatMap(([kind, name]) => {
      const count = this.#taken.get(kind) ?? 0;
      return count === 0 ? [] : [`${count} ${name}, `];
    });
    return `${market.join("")}${this.#events} events, ${this.#flares} flares in ${seconds} s${left}`;
  }
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
