/** The settings of the gateway. */
export { ACCESS_SETTINGS } from "./access-settings.ts";
export * from "./gateway-settings.ts";
