import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { suggestion } from "../../base/lib/text/nearest.ts";
import { flagOf } from "../../base/settings/index.ts";
import { FEEDS } from "../feeds.ts";
import { placeholder } from "./describe.ts";
import { type FlagDefinition, parseFlags, variableOf } from "./flags.ts";
import { goneProblem } from "./gone.ts";
import { ineffective } from "./ineffective.ts";
import {
  CLIENT_KEY_VARIABLE,
  CLUSTER_PASSWORD_VARIABLE,
  LEADER_KEY_VARIABLE,
  SERVICE_KEY_VARIABLES,
} from "./key-variables.ts";
import { type GivenValue, type Layer, resolveConfig } from "./resolve.ts";
import { type Config, isSettingName, SETTING_NAMES, SETTINGS, type SettingName } from "./settings.ts";

/** Variables of this program that are not settings. */
const KEY_VARIABLES: ReadonlySet<string> = new Set([
  CLIENT_KEY_VARIABLE,
  CLUSTER_PASSWORD_VARIABLE,
  LEADER_KEY_VARIABLE,
  ...SERVICE_KEY_VARIABLES,
]);

interface ConfigInput {
  readonly args?: readonly string[];
  /** An empty variable counts as not set. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Base of relative paths in flags and variables. Default: the working directory. */
  readonly directory?: string;
  /** Settings that the command accepts as flags. Default: all. */
  readonly settings?: readonly SettingName[];
  /** Flags of the command that are not settings. */
  readonly flags?: Readonly<Record<string, FlagDefinition>>;
  /** The command's own defaults, which replace the table's. */
  readonly presets?: Partial<Record<SettingName, string>>;
  /** Settings given as required positional arguments, in this order. */
  readonly positionals?: readonly SettingName[];
}

/** Returns the flags of these settings, for {@link parseFlags}. */
function settingFlags(names: readonly SettingName[]): Record<string, FlagDefinition> {
  const typeOf = (name: SettingName) => (SETTINGS[name].flagOnly ? "boolean" : "string");
  return Object.fromEntries(names.map((name) => [flagOf(name), { type: typeOf(name) }]));
}

/** Values of settings that users take for flags. */
const MEANT_FLAGS: ReadonlyMap<string, string> = new Map([
  ["follow", "--source follow:URL"],
  ["leader", "--source follow:URL"],
  ["upstream", "--source URL"],
  ...FEEDS.filter(({ market }) => market?.isRealTime === false).map(
    ({ name }) => [name, `--feed ${name}`] as const,
  ),
]);

/**
 * Reads positional arguments, flags, variables and the file; the first of these that has a setting
 * wins. `isGiven`: one of them has the setting. Throws `invalid-setting` that lists all mistakes.
 */
export function loadConfig(input: ConfigInput) {
  const {
    args = [],
    environment = {},
    directory = process.cwd(),
    settings = SETTING_NAMES,
    positionals = [],
  } = input;
  const definitions = { ...settingFlags(settings), ...input.flags };
  const parsed = parseFlags(
    args,
    definitions,
    positionals.length,
    settings.includes("source") ? MEANT_FLAGS : undefined,
  );
  const missing = positionals.slice(parsed.positionals.length);
  const problems = parsed.problems.length > 0 ? [...parsed.problems] : missingWords(missing);
  const flags = layer(settings, (name) => {
    const value = parsed.flags.get(flagOf(name));
    return value === undefined ? undefined : { value, from: `flag --${flagOf(name)}`, directory };
  });
  const words = layer(positionals, (name) => {
    const value = parsed.positionals[positionals.indexOf(name)];
    return value === undefined ? undefined : { value, from: `argument ${placeholder(name)}`, directory };
  });
  const variables = readEnvironment(environment, directory, problems);
  const named = flags.get("config") ?? variables.get("config");
  const file = named ? readFile(named, problems) : undefined;
  const { presets = {} } = input;
  const defaults = layer(SETTING_NAMES, (name) => {
    const value = presets[name];
    return value === undefined ? undefined : { value, from: `default of ${name}`, directory, ambient: true };
  });
  const layers = [words, flags, variables, ...(file ? [file] : [])];
  // Commands without `feed` have a fixed market. They may share a settings file with `serve`, so a
  // setting without effect is no mistake.
  const config = resolveConfig(
    [...layers, defaults],
    problems,
    settings.includes("feed") ? ineffective : undefined,
  );
  const isGiven = (name: SettingName) => layers.some((one) => one.has(name));
  return { config, isGiven, flags: parsed.flags };
}

/** Settings by name, as in a file: `{ port: 0, heartbeat: "5s" }`. `undefined`: default. */
export type GivenSettings = {
  readonly [N in Exclude<SettingName, "config">]?: string | number | boolean | readonly string[] | undefined;
};

/** Creates the Config of a program that embeds Flarewire. Throws like {@link loadConfig}. */
export function createConfig(settings: GivenSettings = {}): Config {
  const problems: string[] = [];
  const layer = readObject(settings, (name) => `setting ${name}`, process.cwd(), problems);
  return resolveConfig([layer], problems, ineffective);
}

function readEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  directory: string,
  problems: string[],
): Layer {
  const names = new Map(SETTING_NAMES.map((name) => [variableOf(name), name]));
  const layer = new Map<SettingName, GivenValue>();
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith("FLAREWIRE_") || !value || isServiceLink(variable, value)) continue;
    if (KEY_VARIABLES.has(variable)) continue;
    const name = names.get(variable);
    if (name) layer.set(name, { value, from: `environment ${variable}`, directory, ambient: true });
    else
      problems.push(
        goneProblem(variable) ??
          `unknown environment variable ${variable}${suggestion(variable, [...names.keys()])}`,
      );
  }
  return layer;
}

/** Detects the variables that Kubernetes sets in every container for a service named flarewire. */
function isServiceLink(variable: string, value: string): boolean {
  return /^FLAREWIRE_(SERVICE_(HOST|PORT)|PORT_\d+_)/.test(variable) || /^(tcp|udp):\/\//.test(value);
}

function readFile(given: GivenValue, problems: string[]): Layer | undefined {
  if (typeof given.value !== "string") return undefined;
  const path = resolve(given.directory, given.value);
  // The check of the setting itself reports a missing file.
  if (!SETTINGS.config.schema.safeParse(path).success) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    // JSON.parse quotes the file in its message, and the file may hold a secret.
    const message = messageOf(error);
    const reason = message.replace(/, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s, "");
    problems.push(`config = ${JSON.stringify(path)} (${given.from}) cannot be read as JSON: ${reason}`);
    return undefined;
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    problems.push(`${path} must contain a JSON object of settings, such as {"port": 9000}`);
    return undefined;
  }
  return readObject(content, (name) => `${name} in ${path}`, dirname(path), problems);
}

function readObject(
  content: object,
  from: (name: string) => string,
  directory: string,
  problems: string[],
): Layer {
  const layer = new Map<SettingName, GivenValue>();
  for (const [key, value] of Object.entries(content)) {
    if (key === "config")
      problems.push("config cannot be set in a file: a settings file cannot name another");
    else if (!isSettingName(key))
      problems.push(
        goneProblem(key) ?? `unknown setting ${JSON.stringify(key)}${suggestion(key, SETTING_NAMES)}`,
      );
    else if (value !== undefined) layer.set(key, { value, from: from(key), directory });
  }
  return layer;
}

function layer(names: readonly SettingName[], read: (name: SettingName) => GivenValue | undefined): Layer {
  const values = new Map<SettingName, GivenValue>();
  for (const name of names) {
    const value = read(name);
    if (value) values.set(name, value);
  }
  return values;
}

function missingWords(names: readonly SettingName[]): string[] {
  return names.map(
    (name) => `argument ${placeholder(name)} is missing, for example ${SETTINGS[name].example}`,
  );
}
