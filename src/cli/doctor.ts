import type { FlagForm } from "../config/flags.ts";
import {
  ETHERSCAN_KEY_VARIABLE,
  keyFrom,
  LIVE_SETTING_NAMES,
  loadConfig,
  type SettingName,
  settingsHelp,
} from "../config.ts";
import { type Finding, runProbe } from "../feed/index.ts";
import { systemClock } from "../lib/clock.ts";
import { EXIT, type ExitCode, watchShutdown } from "../lib/shutdown.ts";
import { probesOf } from "../open-feed.ts";
import { plainText } from "./plain-text.ts";
import { paintFor, say, type Terminal } from "./terminal.ts";

const SETTINGS: readonly SettingName[] = ["feed", ...LIVE_SETTING_NAMES, "config"];

const FLAGS: Readonly<Record<string, FlagForm>> = { json: { value: false } };

/** What `flarewire doctor --help` prints. */
export function doctorHelp(): string {
  return `Usage: flarewire doctor [options]

Tries each service of others that serve would need with the same settings, once, and says of each what came or what is wrong, and how long that took. Where the feed is
not told, it tries all of the live market. What is only told, and not needed, is marked lacks. Nothing is served, written or changed.

Exit codes: 0 all that is needed works, 75 some of it does not, 1 a setting is wrong.

Options:
  --json
      One JSON object a line and finding, instead of words: service, what, works, needed, detail, took_ms.
${settingsHelp(SETTINGS)}`;
}

/** `flarewire doctor`. */
export async function doctor(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { environment } = terminal;
  const { config, flags } = loadConfig({
    args,
    environment,
    settings: SETTINGS,
    flags: FLAGS,
    presets: { feed: "live" },
  });
  const isJson = flags.get("json") === true;
  const etherscanKey = keyFrom(environment, ETHERSCAN_KEY_VARIABLE);
  const probes = probesOf(config, systemClock, etherscanKey);
  if (probes.length === 0) {
    say(terminal, `the ${config.feed} market needs nobody, and enrich names nobody: there is nothing to try`);
    return EXIT.clean;
  }
  const paint = paintFor(terminal.stdout);
  const shutdown = watchShutdown(process);
  try {
    const finding = async (probe: (typeof probes)[number]) => {
      const found = await runProbe(probe, systemClock, shutdown.signal);
      terminal.stdout.write(`${isJson ? jsonOf(found) : lineOf(found, paint)}\n`);
      return found;
    };
    // Side by side: each has its own service, or is a few requests of one.
    const found = await Promise.all(probes.map(finding));
    const needed = found.filter(({ isNeeded }) => isNeeded);
    const broken = needed.filter(({ works }) => !works).length;
    say(terminal, broken === 0 ? `all ${needed.length} work` : `${broken} of ${needed.length} do not work`);
    if (broken === needed.length && broken > 1)
      say(
        terminal,
        "None answers as it should: look at this machine's network, its names (DNS) and its proxy first.",
      );
    return broken === 0 ? EXIT.clean : EXIT.retry;
  } finally {
    shutdown.dispose();
  }
}

function lineOf(
  { service, what, works, isNeeded, detail, tookMs }: Finding,
  paint: ReturnType<typeof paintFor>,
): string {
  const mark = works ? paint("green", "works") : isNeeded ? paint("red", "fails") : "lacks";
  return `${mark}  ${plainText(service, 60).padEnd(12)} ${what.padEnd(8)} ${String(tookMs).padStart(6)} ms  ${plainText(detail, 200)}`;
}

function jsonOf({ service, what, works, isNeeded, detail, tookMs }: Finding): string {
  return JSON.stringify({ service, what, works, needed: isNeeded, detail, took_ms: tookMs });
}
