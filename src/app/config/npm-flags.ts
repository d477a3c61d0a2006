import { flagOf } from "../../base/settings/index.ts";
import { placeholder } from "./describe.ts";
import { SETTING_NAMES, SETTINGS, type SettingName } from "./settings.ts";

/** How npm starts `serve` in a clone, by the script's name. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ["start", "npm start --"],
  ["flarewire", "npm run flarewire -- serve"],
]);

/**
 * Returns what to do if npm has taken flags for its own, as in `npm start --port=1`. npm then
 * passes them on only as variables. `undefined` if there is nothing to do.
 */
export function npmFlagsHint(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { npm_package_name: name, npm_lifecycle_event: event = "" } = environment;
  const command = COMMANDS.get(event);
  // The scripts of another package may read such variables themselves.
  if (name !== "flarewire" || command === undefined) return undefined;
  const givenOf = (setting: SettingName) => environment[`npm_config_${flagOf(setting).replaceAll("-", "_")}`];
  const lost = SETTING_NAMES.filter((setting) => {
    const forms = [`--${flagOf(setting)}`, `--no-${flagOf(setting)}`];
    const isPassed = args.some((arg) => forms.some((form) => arg === form || arg.startsWith(`${form}=`)));
    // For a switch that is off, as with --no-loop, npm sets an empty value.
    const isGiven = SETTINGS[setting].flagOnly ? givenOf(setting) !== undefined : Boolean(givenOf(setting));
    return !isPassed && isGiven;
  });
  if (lost.length === 0) return undefined;
  const formOf = (setting: SettingName) =>
    SETTINGS[setting].flagOnly && givenOf(setting) === ""
      ? `--no-${flagOf(setting)}`
      : `--${flagOf(setting)}`;
  const flags = lost.map(formOf).join(", ");
  // npm keeps the value in --port=1 with the flag. In --port 1, it becomes an argument.
  const apart = lost.filter((setting) => !SETTINGS[setting].flagOnly && givenOf(setting) === "true");
  const loose = args.filter((arg, at) => !arg.startsWith("-") && !args[at - 1]?.startsWith("-"));
  const shownValue = (setting: SettingName) => {
    const isLoose = apart.length === 1 && loose.length === 1 && apart[0] === setting;
    const value = isLoose ? loose[0] : apart.includes(setting) ? undefined : givenOf(setting);
    // An address may contain a key, and others may need quotes.
    return /^[\w.,-]+$/.test(value ?? "") ? value : placeholder(setting);
  };
  const right = lost
    .map((setting) => formOf(setting) + (SETTINGS[setting].flagOnly ? "" : ` ${shownValue(setting)}`))
    .join(" ");
  const them = lost.length === 1 ? "it" : "them";
  // An .npmrc sets the same variables.
  return `npm did not pass on ${flags}: use ${command} ${right}; if an .npmrc sets ${them}, remove ${them} there`;
}
