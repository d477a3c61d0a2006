/** Reads all settings from flags, environment and a file into one frozen Config. */

export { LIVE_SETTING_NAMES, type LiveSettingName } from "../../feeds/settings/index.ts";
export { settingsHelp, settingsList } from "./describe.ts";
export {
  CLIENT_KEY_VARIABLE,
  CLUSTER_PASSWORD_VARIABLE,
  ENRICHER_KEY_VARIABLES,
  enricherKeysFrom,
  keyFrom,
  LEADER_KEY_VARIABLE,
} from "./key-variables.ts";
export { leaderOf } from "./leader-of.ts";
export {
  createConfig,
  type GivenSettings,
  loadConfig,
} from "./load.ts";
export { npmFlagsHint } from "./npm-flags.ts";
export { isSettingError } from "./setting-error.ts";
export { type Config, SETTING_NAMES, SETTINGS, type SettingName } from "./settings.ts";
