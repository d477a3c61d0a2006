/** The public API for programs that embed Flarewire. */

export type { Bot, BotMarket, TokenName } from "./app/cli/backtest/bot.ts";
export { type Config, createConfig, type GivenSettings } from "./app/config/config.ts";
export {
  createGatewayPlugin,
  type EmbeddedGateway,
  type GatewayPlugin,
} from "./app/gateway-plugin.ts";
export { type GatewayOptions, startGateway } from "./app/serve.ts";
export * from "./base/model/index.ts";
/** Published under the names of the first chains with this form. */
export {
  ChainChartItem as AvalancheChartItem,
  ChainChartItem as MaticChartItem,
} from "./base/model/index.ts";
export * from "./base/protocol/index.ts";
export type { GatewayEvent, GatewayEventMap } from "./gateway/start/gateway-events.ts";
export type { Gateway } from "./gateway/start/run-gateway.ts";
