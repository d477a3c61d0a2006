/** The public API for programs that embed Flarewire. */

export type { Bot, BotMarket, TokenName } from "./cli/backtest/bot.ts";
export { type Config, createConfig, type GivenSettings } from "./config/config.ts";
export { type Gateway, type GatewayParts, startGateway } from "./gateway/app.ts";
export type { GatewayEvent, GatewayEventMap } from "./gateway/gateway-events.ts";
export { createGatewayPlugin, type EmbeddedGateway, type GatewayPlugin } from "./gateway/gateway-plugin.ts";
export * from "./model/index.ts";
export * from "./protocol/index.ts";
