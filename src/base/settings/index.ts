/** The form of settings: each part declares its own, and `app/config` reads them all. */
export * from "./kinds.ts";
export * from "./setting.ts";
