/** The settings of the gateway. */
export * from "./gateway-settings.ts";
