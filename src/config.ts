/** What the program can be told: one table of settings, read from flags, environment and file into a frozen Config. */
export { settingsHelp, settingsTable } from "./config/describe.ts";
export {
  CLIENT_KEY_VARIABLE,
  ETHERSCAN_KEY_VARIABLE,
  keyFrom,
  LEADER_KEY_VARIABLE,
} from "./config/key-variables.ts";
export { leaderOf } from "./config/leader-of.ts";
export { listenProblem } from "./config/listen-problem.ts";
export { LIVE_SETTING_NAMES } from "./config/live-settings.ts";
export {
  type ConfigInput,
  createConfig,
  type GivenSettings,
  isSettingError,
  type LoadedConfig,
  loadConfig,
} from "./config/load.ts";
export { oneProcess } from "./config/one-process.ts";
export { type Config, SETTING_NAMES, SETTINGS, type SettingName } from "./config/settings.ts";
