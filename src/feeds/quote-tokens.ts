import type { ChainGroup } from "../base/model/index.ts";

/*
 * The tokens in which others are priced, by group. The link above an address is its source. All
 * were checked in November 2026, also in
 * https://github.com/DefiLlama/DefiLlama-Adapters (projects/helper/coreAssets.json).
 */

/** A token in which other tokens are priced. */
export interface QuoteToken {
  /** Hexadecimal ones are in lower case, like all addresses here. */
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  /**
   * Whether it always counts as one US dollar. If it loses its peg, tokens priced in it appear too
   * expensive.
   */
  readonly isStable: boolean;
  /** Whether it wraps the chain's own coin and so is worth the same. */
  readonly isWrappedCoin?: boolean;
}

/** The first one of each chain wraps its coin. */
export const QUOTE_TOKENS = {
  bsc: [
    // https://bscscan.com/token/0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c
    wrappedCoin("WBNB", 18, "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c"),
    // https://stargateprotocol.gitbook.io/stargate/developers (18 decimals, unlike on most
    // chains)
    stablecoin("USDT", 18, "0x55d398326f99059ff775485246999027b3197955"),
    // https://docs.zerodev.app/onramp/smart-routing-address/supported-chains (18 decimals)
    stablecoin("USDC", 18, "0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d"),
    // https://bscscan.com/token/0x8d0d000ee44948fc98c9b98a4fa4921476f08b0d
    stablecoin("USD1", 18, "0x8d0d000ee44948fc98c9b98a4fa4921476f08b0d"),
    // https://bscscan.com/token/0xc5f0f7b66764f6ec8c8dff7ba683102295e16409
    stablecoin("FDUSD", 18, "0xc5f0f7b66764f6ec8c8dff7ba683102295e16409"),
    // https://bscscan.com/token/0x7130d2a12b9bcbfae4f2634d864a1ee1ce3ead9c
    quoteToken("BTCB", 18, "0x7130d2a12b9bcbfae4f2634d864a1ee1ce3ead9c"),
    // https://bscscan.com/token/0x2170ed0880ac9a755fd29b2688956bd959f933f8
    quoteToken("ETH", 18, "0x2170ed0880ac9a755fd29b2688956bd959f933f8"),
    // https://bscscan.com/token/0x0e09fabb73bd3ade0a17ecc321fd13a19e81ce82
    quoteToken("CAKE", 18, "0x0e09fabb73bd3ade0a17ecc321fd13a19e81ce82"),
  ],
  matic: [
    // https://polygonscan.com/token/0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270
    wrappedCoin("WPOL", 18, "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270"),
    // https://developers.circle.com/stablecoins/usdc-contract-addresses
    stablecoin("USDC", 6, "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359"),
    // https://stargateprotocol.gitbook.io/stargate/developers, also for the next
    stablecoin("USDC.e", 6, "0x2791bca1f2de4661ed88a30c99a7a9449aa84174"),
    stablecoin("USDT", 6, "0xc2132d05d31c914a87c6611c10748aeb04b58e8f"),
    // https://docs.zerodev.app/onramp/smart-routing-address/supported-chains
    quoteToken("WETH", 18, "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619"),
    // https://polygonscan.com/token/0x8f3cf7ad23cd3cadbd9735aff958023239c6a063
    stablecoin("DAI", 18, "0x8f3cf7ad23cd3cadbd9735aff958023239c6a063"),
    // https://polygonscan.com/token/0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6
    quoteToken("WBTC", 8, "0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6"),
  ],
  avalanche: [
    // https://docs.chain.link/ccip/directory/mainnet/chain/avalanche-mainnet
    wrappedCoin("WAVAX", 18, "0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7"),
    // https://developers.circle.com/stablecoins/usdc-contract-addresses
    stablecoin("USDC", 6, "0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e"),
    // https://stargateprotocol.gitbook.io/stargate/developers
    stablecoin("USDt", 6, "0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7"),
    // https://snowtrace.io/token/0xa7d7079b0fead91f3e65f86e8915cb59c1a4c664
    stablecoin("USDC.e", 6, "0xa7d7079b0fead91f3e65f86e8915cb59c1a4c664"),
    // https://snowtrace.io/token/0xc7198437980c041c805a1edcba50c1ce5db95118
    stablecoin("USDT.e", 6, "0xc7198437980c041c805a1edcba50c1ce5db95118"),
    // https://snowtrace.io/token/0x152b9d0fdc40c096757f570a51e494bd4b943e50
    quoteToken("BTC.b", 8, "0x152b9d0fdc40c096757f570a51e494bd4b943e50"),
    // https://snowtrace.io/token/0x49d5c2bdffac6ce2bfdb6640f4f80f226bc10bab
    quoteToken("WETH.e", 18, "0x49d5c2bdffac6ce2bfdb6640f4f80f226bc10bab"),
  ],
  solana: [
    // https://solscan.io/token/So11111111111111111111111111111111111111112
    wrappedCoin("SOL", 9, "So11111111111111111111111111111111111111112"),
    // https://developers.circle.com/stablecoins/usdc-contract-addresses
    stablecoin("USDC", 6, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
    // https://solscan.io/token/Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB
    stablecoin("USDT", 6, "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"),
  ],
  base: [
    // https://basescan.org/token/0x4200000000000000000000000000000000000006
    wrappedCoin("WETH", 18, "0x4200000000000000000000000000000000000006"),
    // https://developers.circle.com/stablecoins/usdc-contract-addresses
    stablecoin("USDC", 6, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"),
    // https://basescan.org/token/0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca
    stablecoin("USDbC", 6, "0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca"),
    // https://basescan.org/token/0xfde4c96c8593536e31f229ea8f37b2ada2699bb2
    stablecoin("USDT", 6, "0xfde4c96c8593536e31f229ea8f37b2ada2699bb2"),
    // https://basescan.org/token/0x50c5725949a6f0c72e6c4a641f24049a917db0cb
    stablecoin("DAI", 18, "0x50c5725949a6f0c72e6c4a641f24049a917db0cb"),
    // https://basescan.org/token/0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf
    quoteToken("cbBTC", 8, "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf"),
    // https://docs.chain.link/ccip/directory/mainnet/token/VIRTUAL: of the launchpad Virtuals, and
    // not in that list
    quoteToken("VIRTUAL", 18, "0x0b3e328455c4059eeb9e3f84b5543f74e24e7e1b"),
  ],
  ethereum: [
    // https://etherscan.io/token/0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2
    wrappedCoin("WETH", 18, "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"),
    // https://developers.circle.com/stablecoins/usdc-contract-addresses
    stablecoin("USDC", 6, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"),
    // https://etherscan.io/token/0xdac17f958d2ee523a2206206994597c13d831ec7
    stablecoin("USDT", 6, "0xdac17f958d2ee523a2206206994597c13d831ec7"),
    // https://etherscan.io/token/0x6b175474e89094c44da98b954eedeac495271d0f
    stablecoin("DAI", 18, "0x6b175474e89094c44da98b954eedeac495271d0f"),
    // https://etherscan.io/token/0x2260fac5e5542a773aa44fbcfedf7c193bc2c599
    quoteToken("WBTC", 8, "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599"),
  ],
  robinhood: [
    // https://docs.robinhood.com/chain/contracts, also for the next
    wrappedCoin("WETH", 18, "0x0bd7d308f8e1639fab988df18a8011f41eacad73"),
    stablecoin("USDG", 6, "0x5fc5360d0400a0fd4f2af552add042d716f1d168"),
  ],
} as const satisfies Partial<Record<ChainGroup, readonly QuoteToken[]>>;

/** Returns the tokens in which the group's others are priced; none for an unknown chain. */
export function quoteTokensOf(group: ChainGroup): readonly QuoteToken[] {
  const tokens: Partial<Record<ChainGroup, readonly QuoteToken[]>> = QUOTE_TOKENS;
  return tokens[group] ?? [];
}

function quoteToken(symbol: string, decimals: number, address: string): QuoteToken {
  return { symbol, decimals, address, isStable: false };
}

function stablecoin(symbol: string, decimals: number, address: string): QuoteToken {
  return { symbol, decimals, address, isStable: true };
}

function wrappedCoin(symbol: string, decimals: number, address: string): QuoteToken {
  return { symbol, decimals, address, isStable: false, isWrappedCoin: true };
}
