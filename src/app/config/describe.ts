import { flagOf, type Setting } from "../../base/settings/index.ts";
import { variableOf } from "./flags.ts";
import { SETTING_NAMES, SETTINGS, type SettingName } from "./settings.ts";

/** Renders the settings as a Markdown list, for SETTINGS.md. */
export function settingsList(): string {
  return SETTING_NAMES.map((name) => {
    const setting: Setting = SETTINGS[name];
    const names = `**\`${name}\`**, \`${flagUsage(name)}\`, \`${variableOf(name)}\``;
    const value = `${setting.bound}; e.g. \`${setting.example}\``;
    return `* ${names}: ${setting.description}. Default: ${defaultText(setting)}. Value: ${value}.`;
  }).join("\n");
}

/** Renders the settings for `--help`. */
export function settingsHelp(
  names: readonly SettingName[] = SETTING_NAMES,
  defaults: Readonly<Partial<Record<SettingName, string>>> = {},
): string {
  return names
    .map((name) => {
      const setting: Setting = SETTINGS[name];
      const facts = `${setting.bound}; default: ${defaults[name] ?? defaultText(setting)}; ${variableOf(name)}`;
      return `  ${flagUsage(name)}\n${wrap(`${setting.description}.`)}\n${wrap(`(${facts})`)}`;
    })
    .join("\n");
}

function flagUsage(name: SettingName): string {
  return SETTINGS[name].flagOnly
    ? `--${flagOf(name)}, --no-${flagOf(name)}`
    : `--${flagOf(name)} ${placeholder(name)}`;
}

/** Returns how usage texts name the setting's value. */
export function placeholder(name: SettingName): string {
  const { path, words }: Setting = SETTINGS[name];
  return path ? (words ? "DIRECTORY" : "FILE") : "VALUE";
}

function defaultText({ default: preset, defaultText: words }: Setting): string {
  if (words !== undefined) return words;
  return typeof preset === "string" ? preset : "none";
}

function wrap(text: string): string {
  const indent = " ".repeat(6);
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(" ")) {
    if (line.length + word.length > 98 && line !== indent) {
      lines.push(line.trimEnd());
      line = indent;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()].join("\n");
}
