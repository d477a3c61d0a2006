/** The settings of the feeds. */
export * from "./feed-settings.ts";
export { LIVE_SETTING_NAMES, LIVE_SETTINGS, type LiveSettingName } from "./live-settings.ts";
