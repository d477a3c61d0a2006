import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { suggestion } from "../lib/text/nearest.ts";
import { FlarewireError } from "../protocol/index.ts";
import { type FlagForm, type ParsedFlags, parseFlags } from "./flags.ts";
import { ineffective } from "./ineffective.ts";
import { REMOVED_SETTINGS, removedSetting } from "./removed.ts";
import {
  badValue,
  directoryOf,
  fromFile,
  fromFlag,
  fromVariable,
  type GivenValue,
  type Layer,
  resolveConfig,
} from "./resolve.ts";
import { CLIENT_KEY_VARIABLE, ETHERSCAN_KEY_VARIABLE, LEADER_KEY_VARIABLE } from "./schema/key-variables.ts";
import {
  type Config,
  flagOf,
  isSettingName,
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  type SettingName,
  variableOf,
} from "./schema/settings.ts";

/** Variables that are no settings. */
const KEY_VARIABLES: ReadonlySet<string> = new Set([
  CLIENT_KEY_VARIABLE,
  ETHERSCAN_KEY_VARIABLE,
  LEADER_KEY_VARIABLE,
]);

/** Where settings are read from. */
interface ConfigInput {
  /** The command's arguments; none by default. */
  readonly args?: readonly string[];
  /** Environment variables; none by default. An empty one counts as not set. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** What relative paths of flags and variables are relative to; the process's working directory by default. */
  readonly directory?: string;
  /** The settings whose flags the command takes; all by default. */
  readonly settings?: readonly SettingName[];
  /** Flags of the command that are no settings. */
  readonly flags?: Readonly<Record<string, FlagForm>>;
  /** Defaults of the command itself, in place of the table's. None by default. */
  readonly presets?: Partial<Record<SettingName, string>>;
  /** Settings that are given as words without dashes, in this order; each has to be there. None by default. */
  readonly positionals?: readonly SettingName[];
}

/** What was read: the Config, and what the command line held beside settings. */
interface LoadedConfig extends Pick<ParsedFlags, "flags"> {
  readonly config: Config;
  /** Whether the user gave this setting; false where a default or a preset counts. */
  isGiven(name: SettingName): boolean;
}

/** The flags of these settings, for parseFlags. */
function settingFlags(names: readonly SettingName[]): Record<string, FlagForm> {
  return Object.fromEntries(names.map((name) => [flagOf(name), { value: !isSwitch(name) }]));
}

/**
 * Reads flags, environment and, when one is named, the settings file; the first of them that gives a setting wins. Throws
 * FlarewireError `invalid-setting` that lists everything wrong: values out of bounds, unknown flags, variables and keys.
 */
export function loadConfig(input: ConfigInput = {}): LoadedConfig {
  const {
    args = [],
    environment = {},
    directory = process.cwd(),
    settings = SETTING_NAMES,
    positionals = [],
  } = input;
  const removed = [...REMOVED_SETTINGS.keys()];
  const removedFlags = Object.fromEntries(removed.map((name) => [flagOf(name), { value: true }]));
  const forms = { ...settingFlags(settings), ...removedFlags, ...input.flags };
  const parsed = parseFlags(args, forms, positionals.length);
  const stale = removed.filter((name) => parsed.flags.has(flagOf(name)));
  const problems = [
    ...parsed.problems,
    ...stale.map((name) => removedSetting(name, fromFlag(name))),
    ...missingWords(positionals.slice(parsed.positionals.length)),
  ];
  const flags = layer(settings, (name) => {
    const value = parsed.flags.get(flagOf(name));
    return value === undefined ? undefined : { value, from: fromFlag(name), directory };
  });
  const words = layer(positionals, (name) => {
    const value = parsed.positionals[positionals.indexOf(name)];
    return value === undefined ? undefined : { value, from: `argument ${name.toUpperCase()}`, directory };
  });
  const variables = readEnvironment(environment, directory, problems);
  const named = flags.get("config") ?? variables.get("config");
  const file = named ? readFile(named, problems) : undefined;
  const { presets = {} } = input;
  const defaults = layer(SETTING_NAMES, (name) => {
    const value = presets[name];
    return value === undefined ? undefined : { value, from: `default of ${name}`, directory, ambient: true };
  });
  const given = [words, flags, variables, ...(file ? [file] : [])];
  // A command that does not serve has one market only, and a file of settings may be shared with one that does.
  const config = resolveConfig(
    [...given, defaults],
    problems,
    settings.includes("feed") ? ineffective : undefined,
  );
  const isGiven = (name: SettingName) => given.some((place) => place.has(name));
  return { config, isGiven, flags: parsed.flags };
}

/** Settings by name as a file would hold them: `{ port: 0, keys: "keys.json", heartbeat: "5s" }`. What is `undefined` has its default. */
export type GivenSettings = {
  readonly [N in Exclude<SettingName, "config">]?: string | number | boolean | readonly string[] | undefined;
};

/** The Config of a program that embeds Flarewire: settings by name, as a file would hold them; defaults for the rest. Throws as {@link loadConfig}. */
export function createConfig(settings: GivenSettings = {}): Config {
  const problems: string[] = [];
  const given = readObject(settings, (name) => `setting ${name}`, process.cwd(), problems);
  return resolveConfig([given], problems, ineffective);
}

function readEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  directory: string,
  problems: string[],
): Layer {
  const names = new Map(SETTING_NAMES.map((name) => [variableOf(name), name]));
  const given = new Map<SettingName, GivenValue>();
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith("FLAREWIRE_") || !value || isServiceLink(variable, value)) continue;
    if (KEY_VARIABLES.has(variable)) continue;
    const name = names.get(variable);
    const removed = [...REMOVED_SETTINGS.keys()].find((one) => variableOf(one) === variable);
    if (name) given.set(name, { value, from: fromVariable(name), directory, ambient: true });
    else if (removed) problems.push(removedSetting(removed, fromVariable(removed)));
    else problems.push(`unknown environment variable ${variable}${suggestion(variable, [...names.keys()])}`);
  }
  return given;
}

/** Kubernetes gives every container such variables for a service that is called flarewire; they are not meant for us. */
function isServiceLink(variable: string, value: string): boolean {
  return /^FLAREWIRE_(SERVICE_(HOST|PORT)|PORT_\d+_)/.test(variable) || /^(tcp|udp):\/\//.test(value);
}

function readFile(given: GivenValue, problems: string[]): Layer | undefined {
  if (typeof given.value !== "string") return undefined;
  const path = resolve(given.directory, given.value);
  // A file that is not there is told by the setting's own bound.
  if (!SETTINGS.config.schema.safeParse(path).success) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    // The reason of JSON.parse quotes the file, in which there may be a secret.
    const message = error instanceof Error ? error.message : String(error);
    const reason = message.replace(/, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s, "");
    problems.push(`${badValue("config", given)}; ${path} cannot be read as JSON: ${reason}`);
    return undefined;
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    problems.push(`${path} must hold a JSON object with settings by name, for example {"port": 9000}`);
    return undefined;
  }
  return readObject(content, (name) => fromFile(name, path), directoryOf(path), problems);
}

function readObject(
  content: object,
  from: (name: string) => string,
  directory: string,
  problems: string[],
): Layer {
  const given = new Map<SettingName, GivenValue>();
  for (const [key, value] of Object.entries(content)) {
    if (key === "config") problems.push("config cannot be set in a file: a file does not name another");
    else if (REMOVED_SETTINGS.has(key)) problems.push(removedSetting(key, from(key)));
    else if (!isSettingName(key))
      problems.push(`unknown setting ${JSON.stringify(key)}${suggestion(key, SETTING_NAMES)}`);
    else if (value !== undefined) given.set(key, { value, from: from(key), directory });
  }
  return given;
}

function layer(names: readonly SettingName[], read: (name: SettingName) => GivenValue | undefined): Layer {
  const given = new Map<SettingName, GivenValue>();
  for (const name of names) {
    const value = read(name);
    if (value) given.set(name, value);
  }
  return given;
}

function isSwitch(name: SettingName): boolean {
  const { flagOnly }: Setting = SETTINGS[name];
  return flagOnly === true;
}

function missingWords(names: readonly SettingName[]): readonly string[] {
  return names.map(
    (name) => `argument ${name.toUpperCase()} is missing, for example ${SETTINGS[name].example}`,
  );
}

/** True for the error that {@link loadConfig} throws. */
export function isSettingError(error: unknown): error is FlarewireError {
  return error instanceof FlarewireError && error.code === "invalid-setting";
}
