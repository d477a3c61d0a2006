/** What a program that embeds Flarewire imports. */
export { type Gateway, type GatewayParts, startGateway } from "./app.ts";
export { type Config, createConfig, type GivenSettings } from "./config.ts";
export type { GatewayEvent, GatewayEventMap } from "./gateway-events.ts";
export { createGatewayPlugin, type EmbeddedGateway, type GatewayPlugin } from "./gateway-plugin.ts";
export * from "./model/index.ts";
export * from "./protocol/index.ts";
