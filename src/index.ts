/** The public API for programs that embed Flarewire. */

export type { Bot, BotMarket, TokenName } from "./app/cli/backtest/bot.ts";
export { type Config, createConfig, type GivenSettings } from "./app/config/config.ts";
export * from "./base/model/index.ts";
export * from "./base/protocol/index.ts";
export { type Gateway, type GatewayParts, startGateway } from "./gateway/start/app.ts";
export type { GatewayEvent, GatewayEventMap } from "./gateway/start/gateway-events.ts";
export {
  createGatewayPlugin,
  type EmbeddedGateway,
  type GatewayPlugin,
} from "./gateway/start/gateway-plugin.ts";
