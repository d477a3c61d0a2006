/** Reads all settings from flags, environment and a file into one frozen Config. */

export { settingsHelp, settingsList } from "./describe.ts";
export {
  CLIENT_KEY_VARIABLE,
  CLUSTER_PASSWORD_VARIABLE,
  keyFrom,
  LEADER_KEY_VARIABLE,
  serviceKeysFrom,
} from "./key-variables.ts";
export { leaderOf } from "./leader-of.ts";
export {
  createConfig,
  type GivenSettings,
  loadConfig,
} from "./load.ts";
export { npmFlagsHint } from "./npm-flags.ts";
export { isSettingError } from "./setting-error.ts";
export { type Config, feedFlags, SETTING_NAMES, SETTINGS, type SettingName } from "./settings.ts";
