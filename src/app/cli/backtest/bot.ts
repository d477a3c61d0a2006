import type { MarketGroup } from "../../../base/market/index.ts";
import type { ConnectOptions, Stream } from "../../../clients/sdk/index.ts";

/**
 * A bot: what a file for `flarewire backtest --bot` exports as `bot`. A live program calls the same
 * function with a market of its own.
 *
 * Its clock is the events' `observed_at`: event time passes at full speed between them. A bot that
 * acts after a time also follows `charts.*`, which have events each minute.
 */
export type Bot = (market: BotMarket) => unknown;

/** What a bot trades on. */
export interface BotMarket {
  /** Opens a stream, like `connect` of `flarewire/client`, but without the address. */
  connect(options?: Pick<ConnectOptions, "channels" | "filter">): Stream;
  /**
   * Orders one stake of a token. In a backtest it fills at the token's next price. Does nothing
   * while the token is ordered or held.
   */
  buy(token: TokenName): void;
  /**
   * Orders the sale of a token that is ordered or held. In a backtest it fills after the purchase,
   * at the token's next price. Does nothing for another token, or if its sale is ordered already.
   * `reason` appears in the report. Default: none.
   */
  sell(token: TokenName, reason?: string): void;
}

export interface TokenName {
  readonly group: MarketGroup;
  /** The token's address; on the exchange, its symbol. */
  readonly token: string;
  /** For the report. Default: the token. */
  readonly symbol?: string | undefined;
}
