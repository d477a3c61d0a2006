import { ownCommand } from "../../base/lib/own-command.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { suggestion } from "../../base/lib/text/nearest.ts";
import { VERSION } from "../../base/lib/version.ts";
import { isSettingError } from "../config/setting-error.ts";
import { exitCodeOf } from "./exit-code.ts";
import { EXIT, type ExitCode } from "./shutdown.ts";
import { isBrokenPipe, say, type Terminal } from "./terminal/terminal.ts";

/** A command. Resolves with its exit code; an error that it throws becomes a message. */
type Command = (args: readonly string[], terminal: Terminal) => Promise<ExitCode>;

interface CommandEntry {
  readonly summary: string;
  /** Loads the command on demand: `replay` needs no web server. */
  load(): Promise<{ readonly command: Command; readonly help: () => string }>;
}

const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  serve: entry("serve the API and its live events", () => import("./serve.ts"), "serve", "serveHelp"),
  replay: entry(
    "run a recording at full speed and write its events, without a server",
    () => import("./replay.ts"),
    "replay",
    "replayHelp",
  ),
  backtest: entry(
    "play a recording to a bot and report its trades and the track record",
    () => import("./backtest/backtest.ts"),
    "backtest",
    "backtestHelp",
  ),
  record: entry("record a feed into files for replay", () => import("./record.ts"), "record", "recordHelp"),
  import: entry(
    "convert candles or trades of other programs into a recording",
    () => import("./import/import.ts"),
    "importFiles",
    "importHelp",
  ),
  doctor: entry(
    "check each external service that a live market needs",
    () => import("./doctor.ts"),
    "doctor",
    "doctorHelp",
  ),
  tail: entry("follow the events of a running server", () => import("./tail/tail.ts"), "tail", "tailHelp"),
  top: entry("show the current flares of a running server", () => import("./top/top.ts"), "top", "topHelp"),
  mcp: entry("give an AI agent tools to ask a running server", () => import("./mcp.ts"), "mcp", "mcpHelp"),
  keys: entry("create, list and revoke the keys of a server", () => import("./keys.ts"), "keys", "keysHelp"),
};

function entry<C extends string, H extends string>(
  summary: string,
  load: () => Promise<Readonly<Record<C, Command> & Record<H, () => string>>>,
  command: C,
  help: H,
): CommandEntry {
  return {
    summary,
    load: () => load().then((module) => ({ command: module[command], help: module[help] })),
  };
}

/** Runs the command line and resolves with the exit code. Never rejects. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [name, ...rest] = args;
  try {
    if (name === undefined) return help(terminal, EXIT.usage);
    if (name === "--help" || name === "-h" || name === "help") return help(terminal, EXIT.clean);
    if (name === "--version" || name === "-v") {
      terminal.stdout.write(`${VERSION}\n`);
      return EXIT.clean;
    }
    const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!entry) {
      const what = name.startsWith("-") ? "flag" : "command";
      say(
        terminal,
        `flarewire: unknown ${what} ${JSON.stringify(name)}${suggestion(name, Object.keys(COMMANDS))}`,
      );
      say(terminal, `Run ${ownCommand("--help")} for all commands.`);
      return EXIT.usage;
    }
    const { command, help: commandHelp } = await entry.load();
    if (asksForHelp(rest)) {
      terminal.stdout.write(`${commandHelp()}\n`);
      return EXIT.clean;
    }
    return await command(rest, terminal);
  } catch (error) {
    return explain(error, name ?? "", terminal);
  }
}

function generalHelp(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(9)}${summary}`);
  return [
    "flarewire: which tokens are flaring, why, and when they stop",
    "",
    "Usage: flarewire COMMAND [options]",
    "",
    ...rows,
    "",
    "flarewire COMMAND --help prints a command's options, flarewire --version the version.",
    "Exit codes: 0 done, 1 fix the reported problem first, 75 try again later.",
  ].join("\n");
}

function help(terminal: Terminal, code: ExitCode): ExitCode {
  const output = code === EXIT.clean ? terminal.stdout : terminal.stderr;
  output.write(`${generalHelp()}\n`);
  return code;
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? undefined : end).some((arg) => arg === "--help" || arg === "-h");
}

function explain(error: unknown, command: string, terminal: Terminal): ExitCode {
  if (isBrokenPipe(error)) return EXIT.clean;
  const message = messageOf(error);
  say(terminal, `flarewire ${command}: ${message}`);
  if (isSettingError(error)) say(terminal, `Run ${ownCommand(`${command} --help`)} for all settings.`);
  return exitCodeOf(error);
}
