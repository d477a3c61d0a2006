import { GROUP_TABLE } from "../../base/model/index.ts";
import { QUOTE_TOKENS } from "../quote-tokens.ts";
import type { Network } from "./network.ts";

/*
 * The supported chains and the contracts followed on them. The link above an address is its source.
 * All were checked in November 2026. At the start, the feed verifies on the chain that a contract
 * exists at each address.
 */

/** Uniswap Labs: https://docs.uniswap.org/contracts/v3/reference/deployments/Polygon-Deployments */
const UNISWAP_V3 = "0x1f98431c8ad98523631ae4a59f267346ea31f984";

/**
 * On Polygon and Avalanche:
 * https://docs.uniswap.org/contracts/v2/reference/smart-contracts/v2-deployments
 */
const UNISWAP_V2 = "0x9e5a52f57b3038f1b8eee45f28b3c1967e22799c";

export const NETWORKS = {
  bsc: {
    name: "bsc",
    group: "bsc",
    chainId: GROUP_TABLE.bsc.chainId,
    // https://github.com/bnb-chain/BEPs, BEP-126: a block is final when it and its child are
    // justified, "within two blocks in most cases". One more block allows for endpoints whose nodes
    // are not in step.
    // Late votes delay finality (BEP-590 allows up to three blocks); if such a block is replaced,
    // the operator is notified.
    finalityBlocks: 3,
    factories: [
      // https://developer.pancakeswap.finance/contracts/v2/addresses
      { name: "PancakeSwap V2", form: "v2", address: "0xca143ce32fe78f1f7019d7d551a6402fc5350c73" },
      // https://developer.pancakeswap.finance/contracts/v3/addresses
      { name: "PancakeSwap V3", form: "v3", address: "0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865" },
      // https://docs.uniswap.org/contracts/v3/reference/deployments/BNB-Binance-Deployments
      { name: "Uniswap V3", form: "v3", address: "0xdb1d10011ad0ff90774d0c6bb92e5c5c8b4461f7" },
      // https://docs.uniswap.org/contracts/v2/reference/smart-contracts/v2-deployments
      { name: "Uniswap V2", form: "v2", address: "0x8909dc15e40173ff4699343b6eb8132c65e18ec6" },
      // https://docs.uniswap.org/contracts/v4/deployments
      {
        name: "Uniswap V4",
        form: "uniswap-v4",
        address: "0x28e2ea090877bf75740558f6bfb36a5ffee9e9df",
        positionManager: "0x7a4a5c919ae2541aed11041a1aeee68f1287f95b",
      },
      // https://developer.pancakeswap.finance/contracts/infinity/resources/addresses
      {
        name: "PancakeSwap Infinity CL",
        form: "infinity-cl",
        address: "0xa0ffb9c1ce1fe56963b0321b32e7a0302114058b",
      },
      // https://docs.algebra.finance (partners) and
      // https://github.com/paraswap/paraswap-dex-lib (src/dex/quickswap/config.ts)
      { name: "Thena Fusion", form: "algebra", address: "0x306f06c147f064a010530292a1eb6737c3e378e4" },
      // https://developer.pancakeswap.finance/contracts/infinity/resources/addresses
      {
        name: "PancakeSwap Infinity Bin",
        form: "infinity-bin",
        address: "0xc697d2898e0d09264376196696c51d7abbbaa4a9",
      },
      // https://github.com/topazdex/agent-skill (references/addresses.md), also for the next
      { name: "Topaz CL", form: "v3-spacing", address: "0x73dc984d9490286e735548f61dfccec67af82ed9" },
      { name: "Topaz V2", form: "velodrome", address: "0x65e6cd0ef5d3467030103cf3d433034e570b5784" },
      // https://github.com/pefish/go-coin-eth (fourmeme-lib), four.meme's document of October 2025
      { name: "four.meme", form: "four-meme", address: "0x5c952063c7fc8610ffdb798152d69f0b9550762b" },
      // https://docs.flap.sh/flap/developers/deployed-contract-addresses
      { name: "flap", form: "flap", address: "0xe2ce6ab80874fa9fa2aae65d277dd6b8e65c9de0" },
    ],
    quotes: QUOTE_TOKENS.bsc,
    // https://docs.bnbchain.org/bnb-smart-chain/developers/json_rpc/json-rpc-endpoint
    // Each allows 10,000 requests in 5 minutes, and no eth_getLogs.
    rpcUrls: [
      "https://bsc-dataseed.bnbchain.org",
      "https://bsc-dataseed.defibit.io",
      "https://bsc-dataseed.ninicoin.io",
      // https://github.com/ethereum-lists/chains (eip155-56.json), also for the next two
      "https://bsc-rpc.publicnode.com",
      "https://bsc.drpc.org",
      // https://docs.48.club/services/rpc
      "https://rpc-bsc.48.club",
      "wss://rpc-bsc.48.club/ws/",
    ],
  },
  polygon: {
    name: "polygon",
    group: "matic",
    chainId: GROUP_TABLE.matic.chainId,
    // https://docs.polygon.technology/pos/concepts/finality/finality: milestones make blocks final
    // in 2 to 5 seconds, three blocks at most.
    finalityBlocks: 3,
    factories: [
      // https://github.com/QuickSwap/quickswap-core (README.md)
      { name: "QuickSwap V2", form: "v2", address: "0x5757371414417b8c6caad45baef941abc7d3ab32" },
      // https://docs.quickswap.exchange/technical-reference/smart-contracts/v3/factory
      { name: "QuickSwap V3", form: "algebra", address: "0x411b0facc3489691f28ad58c47006af5e3ab3a28" },
      { name: "Uniswap V3", form: "v3", address: UNISWAP_V3 },
      { name: "Uniswap V2", form: "v2", address: UNISWAP_V2 },
      // https://docs.uniswap.org/contracts/v4/deployments
      {
        name: "Uniswap V4",
        form: "uniswap-v4",
        address: "0x67366782805870060151383f4bbff9dab53e5cd6",
        positionManager: "0x1ec2ebf4f37e7363fdfe3551602425af0b3ceef9",
      },
      // https://github.com/paraswap/paraswap-dex-lib (src/dex/algebra-integral/config.ts)
      { name: "QuickSwap V4", form: "algebra", address: "0x96117a894c2c99aafeeacb972c3310e6ac83e810" },
    ],
    quotes: QUOTE_TOKENS.matic,
    rpcUrls: [
      // https://github.com/ethereum-lists/chains (eip155-137.json), which no longer lists
      // polygon-rpc.com
      "https://polygon.drpc.org",
      "https://polygon-bor-rpc.publicnode.com",
      // https://docs.tenderly.co/supported-networks
      "https://polygon.gateway.tenderly.co",
      // https://github.com/pokt-network/public-rpc (supported-chains.json): many operators' nodes
      "https://poly.api.pocket.network",
    ],
  },
  avalanche: {
    name: "avalanche",
    group: "avalanche",
    chainId: GROUP_TABLE.avalanche.chainId,
    // https://build.avax.network/docs/rpcs/c-chain: nodes return accepted blocks only, and an
    // accepted block is final. One more block allows for endpoints whose nodes are not in step.
    finalityBlocks: 1,
    factories: [
      // https://github.com/traderjoe-xyz/joe-core (deploy/FarmLensV2.js)
      { name: "Trader Joe V1", form: "v2", address: "0x9ad6c38be94206ca50bb0d90783181662f0cfa10" },
      // https://github.com/pangolindex/sdk (src/chains.ts)
      { name: "Pangolin", form: "v2", address: "0xefa94de7a4656d787667c749f7e1223d71e9fd88" },
      // https://docs.uniswap.org/contracts/v3/reference/deployments/Avax-Deployments
      { name: "Uniswap V3", form: "v3", address: "0x740b1c1de25031c31ff4fc9a62f554a55cdc1bad" },
      { name: "Uniswap V2", form: "v2", address: UNISWAP_V2 },
      // https://docs.uniswap.org/contracts/v4/deployments
      {
        name: "Uniswap V4",
        form: "uniswap-v4",
        address: "0x06380c0e0912312b5150364b9dc4542ba0dbbc85",
        positionManager: "0xb74b1f14d2754acfcbbe1a221023a5cf50ab8acd",
      },
      // https://forum.cow.fi/t/blackhole-liquidity-source-integration-proposal/3120, and for the
      // deployers https://github.com/BlackHoleDEX/mcp (custom-pool-deployers.ts)
      {
        name: "Blackhole CL",
        form: "algebra",
        address: "0x512eb749541b7cf294be882d636218c84a5e9e5f",
        deployers: [
          "0xdcfccf2e8c4efbba9127b80eac76c5a122125d29",
          "0x58b05074d52d1a84d8ffdadda3c1b652e8c56994",
          "0xf9221de143a0e57c324bf2a0f281e605e845d767",
          "0x5d433a94a4a2aa8f9aa34d8d15692dc2e9960584",
          "0x43c4b7bd4c173992c6711c631859a2eac84bf8db",
          "0x48b1d49fb891bab3543db6e902cc54726a133ace",
          "0x14e4e36f70ff06dc874f0e827b174ced91e51cc8",
          "0x5ef3876ca93b93c9bcfd637783ed99412b1eff43",
          "0x0aff494476dc74cf7bb5dd005c2b1fe7be76efa2",
        ],
      },
      // https://github.com/pangolindex: deployed on 2025-04-04
      { name: "Pangolin V3", form: "algebra", address: "0x44805f92db5bb31b54632a55fc4b2b7e885b0e0e" },
      // https://developers.lfj.gg/deployment-addresses/avalanche
      { name: "LFJ 2.2", form: "liquidity-book", address: "0xb43120c4745967fa9b93e79c149e66b0f2d6fe0c" },
      { name: "LFJ 2.1", form: "liquidity-book", address: "0x8e42f2f4101563bf679975178e880fd87d3efd4e" },
      { name: "LFJ 2.0", form: "liquidity-book", address: "0x6e77932a92582f504ff6c4bdbcef7da6c198aeef" },
      // https://github.com/BlackHoleDEX/Contracts (contracts/factories/PairFactory.sol),
      // https://github.com/DefiLlama/DefiLlama-Adapters (projects/blackhole)
      { name: "Blackhole V2", form: "solidly", address: "0xfe926062fb99ca5653080d6c14fe945ad68c265c" },
      // https://docs.phar.gg/pages/contract-addresses, also for the next. The source of the first
      // is https://github.com/PharaohExchange/pharaoh-contracts (contracts/CL/core). The second has
      // the interface of LFJ 2.2, but no public source.
      { name: "Pharaoh CL", form: "v3-spacing", address: "0xae6e5c62328ade73ceefd42228528b70c8157d0d" },
      { name: "Pharaoh DLMM", form: "liquidity-book", address: "0xeb480050b016f6c6d45203d2346b68bddda23d4d" },
      // https://github.com/DefiLlama/DefiLlama-Adapters (registries/uniswapV2.js)
      { name: "ArenaDEX", form: "v2", address: "0xf16784dcaf838a3e16bef7711a62d12413c39bd1" },
      // https://github.com/KyberNetwork/kyberswap-dex-lib (pkg/liquidity-source/arena-bc),
      // https://github.com/DefiLlama/dimension-adapters (its volume, by the same events)
      { name: "Arena", form: "arena", address: "0x8315f1eb449dd4b779495c3a0b05e5d194446c6e" },
    ],
    quotes: QUOTE_TOKENS.avalanche,
    // https://build.avax.network/docs/rpcs/c-chain; the second, to cross-check blocks, is run by
    // Allnodes: widely used, but not in the network's documents.
    rpcUrls: [
      "https://api.avax.network/ext/bc/C/rpc",
      "https://avalanche-c-chain-rpc.publicnode.com",
      // https://github.com/DefiLlama/chainlist (constants/extraRpcs.js)
      "https://avalanche.drpc.org",
      // https://github.com/pokt-network/public-rpc (supported-chains.json): many operators' nodes
      "https://avax.api.pocket.network",
      "wss://api.avax.network/ext/bc/C/ws",
    ],
  },
  base: {
    name: "base",
    group: "base",
    chainId: GROUP_TABLE.base.chainId,
    // https://docs.base.org/base-chain/network-information/transaction-finality: endpoints call a
    // block final once Ethereum has finalized its batch, 20 minutes later. Only one block was ever
    // replaced. Two more blocks allow for endpoints whose nodes are not in step.
    finalityBlocks: 2,
    isFinalByDepth: true,
    factories: [
      // https://github.com/aerodrome-finance/slipstream (README.md), also for the next two
      { name: "Aerodrome CL", form: "v3-spacing", address: "0x5e7bb104d84c7cb9b682aac2f3d509f5f406809a" },
      { name: "Aerodrome CL 2", form: "v3-spacing", address: "0xade65c38cd4849adba595a4323a8c7ddfe89716a" },
      { name: "Aerodrome CL 3", form: "v3-spacing", address: "0xf8f2eb4940cfe7d13603dddd87f123820fc061ef" },
      // https://github.com/aerodrome-finance/contracts (README.md)
      { name: "Aerodrome V2", form: "velodrome", address: "0x420dd381b31aef6683db6b902084cb0ffece40da" },
      // https://docs.base.org/base-chain/network-information/ecosystem-contracts, also for the next
      { name: "Uniswap V3", form: "v3", address: "0x33128a8fc17869897dce68ed026d694621f6fdfd" },
      { name: "Uniswap V2", form: "v2", address: "0x8909dc15e40173ff4699343b6eb8132c65e18ec6" },
      // https://docs.uniswap.org/contracts/v4/deployments
      {
        name: "Uniswap V4",
        form: "uniswap-v4",
        address: "0x498581ff718922c3f8e6a244956af099b2652b2b",
        positionManager: "0x7c5f5a4bbd8fd63184577525326123b519429bdc",
      },
      // https://developer.pancakeswap.finance/contracts/v3/addresses
      { name: "PancakeSwap V3", form: "v3", address: "0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865" },
      // https://developer.pancakeswap.finance/contracts/infinity/resources/addresses
      {
        name: "PancakeSwap Infinity CL",
        form: "infinity-cl",
        address: "0xa0ffb9c1ce1fe56963b0321b32e7a0302114058b",
      },
    ],
    quotes: QUOTE_TOKENS.base,
    rpcUrls: [
      // https://docs.base.org/base-chain/quickstart/connecting-to-base
      "https://mainnet.base.org",
      // https://github.com/ethereum-lists/chains (eip155-8453.json)
      "https://base-rpc.publicnode.com",
      // https://docs.tenderly.co/supported-networks
      "https://base.gateway.tenderly.co",
      // https://github.com/DefiLlama/chainlist (constants/extraRpcs.js)
      "https://base.drpc.org",
    ],
  },
} as const satisfies Record<string, Network>;
export type NetworkName = keyof typeof NETWORKS;

export const NETWORK_NAMES = Object.keys(NETWORKS) as readonly NetworkName[];
