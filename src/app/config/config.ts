/** Reads all settings from flags, environment and a file into one frozen Config. */

export { listenProblem } from "../../gateway/start/listen-problem.ts";
export { leaderOf } from "./leader-of.ts";
export {
  createConfig,
  type GivenSettings,
  isSettingError,
  loadConfig,
} from "./load.ts";
export { npmFlagsHint } from "./npm-flags.ts";
export { oneProcess } from "./one-process.ts";
export { settingsHelp, settingsList } from "./schema/describe.ts";
export {
  CLIENT_KEY_VARIABLE,
  CLUSTER_PASSWORD_VARIABLE,
  ENRICHER_KEY_VARIABLES,
  enricherKeysFrom,
  keyFrom,
  LEADER_KEY_VARIABLE,
} from "./schema/key-variables.ts";
export { LIVE_SETTING_NAMES, type LiveSettingName } from "./schema/live-settings.ts";
export { type Config, SETTING_NAMES, SETTINGS, type SettingName } from "./schema/settings.ts";
