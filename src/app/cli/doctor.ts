import { lookup } from "node:dns/promises";
import type { Probe } from "../../base/lib/probe.ts";
import { systemClock } from "../../base/lib/time/clock.ts";
import type { Extension } from "../../gateway/start/index.ts";
import {
  CLUSTER_PASSWORD_VARIABLE,
  type Config,
  feedFlags,
  keyFrom,
  loadConfig,
  type SettingName,
  serviceKeysFrom,
  settingsHelp,
} from "../config/config.ts";
import { type FlagDefinition, flagText } from "../config/flags.ts";
import { isSettingName } from "../config/settings.ts";
import { checksOf } from "../market.ts";
import { SHARED_LOGS, sharedLogOf } from "../shared-logs.ts";
import { countLine, failureLines, findingLine } from "./doctor-lines.ts";
import { type Finding, hostsWithoutDns, type LookUp, runProbe } from "./run-probe.ts";
import { EXIT, type ExitCode, watchShutdown } from "./shutdown.ts";
import { paintFor, say, type Terminal } from "./terminal/terminal.ts";

const SETTINGS: readonly SettingName[] = [
  "feed",
  ...feedFlags(({ parts, market, layer }) => (parts ?? market?.checks ?? layer?.checks) !== undefined),
  ...SHARED_LOGS.flatMap(({ settings }) => Object.keys(settings)).filter(isSettingName),
  "config",
];

const FLAGS: Readonly<Record<string, FlagDefinition>> = {
  json: { type: "boolean" },
  "test-alerts": { type: "string" },
};

export function doctorHelp(): string {
  return `Usage: flarewire doctor [options]

Tries each external service that serve would use with the same settings, and with --cluster its servers and Sentinels.
Prints the result and the time of each. Its default is --feed live, unlike that of serve: the whole live market. Marks the failure of an
optional check as such. Equal failures share one line. Reports a missing network first. Serves, writes and changes nothing, but
with --test-alerts sends messages.

Exit codes: 0 all required services work, 75 some fail, 1 a setting is invalid.

Options:
  --json
      Print each finding as a JSON object on its own line: service, what, works, needed, detail, took_ms.
  --test-alerts FILE
      Send a test message to each target of this alert file, except MQTT brokers. With --feed simulated, test only these.
${settingsHelp(SETTINGS)}`;
}

/** Runs `flarewire doctor`: prints successes at once, and failures at the end, grouped. */
export async function doctor(
  args: readonly string[],
  terminal: Terminal,
  lookUp: LookUp = lookup,
): Promise<ExitCode> {
  const { environment, stdout } = terminal;
  const { config, flags } = loadConfig({
    args,
    environment,
    settings: SETTINGS,
    flags: FLAGS,
    presets: { feed: "live" },
  });
  const isJson = flags.get("json") === true;
  const market = checksOf(config, systemClock, serviceKeysFrom(environment));
  const alertFile = flagText(flags, "test-alerts");
  const targets = await probesOfAlerts(alertFile);
  const probes = [...market, ...(await probesOfSharedLog(config, environment)), ...targets];
  if (probes.length === 0) {
    const brokers =
      alertFile === undefined ? "" : ", and the alert file has only MQTT brokers, which are not tested";
    say(terminal, `nothing to try: the ${config.feed} market and enrich use no external service${brokers}`);
    return EXIT.clean;
  }
  const paint = paintFor(stdout);
  const shutdown = watchShutdown(process);
  try {
    const unresolved = hasProxy(environment)
      ? new Set<string>()
      : await hostsWithoutDns(probes, lookUp, systemClock, shutdown.signal);
    if (unresolved.size > 0) say(terminal, NO_NAME_RESOLVES);
    const finding = async (probe: Probe) => {
      const run = unresolved.has(probe.host ?? "") ? failToResolve : probe.run;
      const found = await runProbe({ ...probe, run }, systemClock, shutdown.signal);
      if (isJson) stdout.write(`${jsonOf(found)}\n`);
      else if (found.works) stdout.write(`${findingLine(found, paint)}\n`);
      return found;
    };
    // In parallel: the probes use different services, or send only a few requests to one.
    const found = await Promise.all(probes.map(finding));
    const needed = found.filter(({ isNeeded }) => isNeeded);
    const broken = needed.filter(({ works }) => !works).length;
    if (broken === needed.length && broken > 1 && unresolved.size === 0) say(terminal, NOTHING_WORKS);
    if (!isJson) for (const line of failureLines(found, paint)) stdout.write(`${line}\n`);
    say(terminal, countLine(found));
    return broken === 0 ? EXIT.clean : EXIT.retry;
  } finally {
    shutdown.dispose();
  }
}

/** Returns the probes of the servers of a shared log; none without one. */
async function probesOfSharedLog(
  config: Config,
  environment: Terminal["environment"],
): Promise<readonly Probe[]> {
  const log = sharedLogOf(config);
  if (!log) return [];
  const password = keyFrom(environment, CLUSTER_PASSWORD_VARIABLE, "of the cluster's servers");
  return log.checks(config, password, systemClock);
}

/** Returns the probes of the targets in an alert file; none without one. Loads them on demand. */
async function probesOfAlerts(file: string | undefined): Promise<readonly Probe[]> {
  if (file === undefined) return [];
  const { EXTENSIONS } = await import("../extensions.ts");
  const all: readonly Extension[] = EXTENSIONS;
  const probes = all.map(async ({ checks }) => (await checks?.(file, systemClock)) ?? []);
  return (await Promise.all(probes)).flat();
}

const NO_NAME_RESOLVES =
  "no host name can be resolved: this machine has no network or no DNS; fix that first, then run doctor again";
const NOTHING_WORKS = "nothing works: check this machine's network, DNS and proxy first";

function failToResolve(): Promise<never> {
  return Promise.reject(new Error("has a host name that does not resolve"));
}

/** With a proxy, the proxy resolves names. */
function hasProxy(environment: Terminal["environment"]): boolean {
  return Object.entries(environment).some(([name, value]) => /^https?_proxy$/i.test(name) && value);
}

function jsonOf({ service, what, works, isNeeded, detail, tookMs }: Finding): string {
  return JSON.stringify({ service, what, works, needed: isNeeded, detail, took_ms: tookMs });
}
