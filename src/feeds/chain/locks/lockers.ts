/*
 * The contracts that lock LP tokens of V2 pairs until a date, by chain. Only addresses that at
 * least two independent sources name, as of November 2026:
 * https://github.com/DefiLlama/DefiLlama-Adapters (projects/unicrypt/config.js, pinksale/index.js,
 * team-finance/config.js, goplus-locker-v2, dxsale/config.js, deeplock), the services' own
 * documents and web pages, and other projects' lists. An address means nothing on another chain:
 * some are lockers on one and tokens on the next. Missing on purpose: lockers that accept only
 * pairs of exchanges that no network here has, lockers of position NFTs, services with a contract
 * for each lock, and the receivers of the lockers' fees, which sell what they get. The services can
 * replace the code of Team Finance, GemPad and PinkLock V1, so a lock there is weaker than a burn.
 */
const LOCKERS = {
  bsc: {
    // UNCX: V2 locker, PancakeSwap V2
    "0xc765bddb93b0d1c1a88282ba0fa6b2d00e3e0c83": "UNCX",
    // UNCX: V2 locker, Uniswap V2
    "0x7229247bd5cf29fa9b0764aa1568732be024084b": "UNCX",
    // PinkLock: V2
    "0x407993575c91ce7643a4d4ccacc9a98c36ee1bbe": "PinkLock",
    // PinkLock: V1
    "0x7ee058420e5937496f5a2096f04caa7721cf70cc": "PinkLock",
    // Team Finance: current
    "0x0c89c0407775dd89b12918b9c0aa42bf96518820": "Team Finance",
    // Team Finance: older
    "0x7536592bb74b5d62eb82e8b93b17eed4eed9a85c": "Team Finance",
    // GoPlus: TokenLocker
    "0xf17a08a7d41f53b24ad07eb322cbbda2ebdec04b": "GoPlus",
    // GoPlus: TokenLocker, older
    "0x7aa03d4b9051cf299e7a2272953d0590fee485a4": "GoPlus",
    // Mudra: locker
    "0xae7e6cabad8d80f0b4e1c4dde2a5db7201ef1252": "Mudra",
    // DeepLock: V2
    "0x3f4d6bf08cb7a003488ef082102c2e6418a4551e": "DeepLock",
    // DxSale: DxLock V3
    "0xeb3a9c56d963b971d320f889be2fb8b59853e449": "DxSale",
  },
  polygon: {
    // UNCX: V2 locker, QuickSwap
    "0xadb2437e6f65682b85f814fbc12fec0508a7b1d0": "UNCX",
    // PinkLock: V2
    "0x6c9a0d8b1c7a95a323d744de30cf027694710633": "PinkLock",
    // Team Finance: current
    "0x3ef7442df454ba6b7c1deec8ddf29cfb2d6e56c7": "Team Finance",
    // Team Finance: older
    "0x586c21a779c24efd2a8af33c9f7df2a2ea9af55c": "Team Finance",
  },
  avalanche: {
    // UNCX: V2 locker, Trader Joe V1
    "0xa9f6aefa5d56db1205f36c34e6482a6d4979b3bb": "UNCX",
    // PinkLock: V2
    "0x9479c6484a392113bb829a15e7c9e033c9e70d30": "PinkLock",
    // Team Finance: current
    "0xe2fe530c047f2d85298b07d9333c05737f1435fb": "Team Finance",
  },
  base: {
    // UNCX: V2 locker
    "0xc4e637d37113192f4f1f060daebd7758de7f4131": "UNCX",
    // PinkLock: V2
    "0xdd6e31a046b828cbbafb939c2a394629aff8bbdc": "PinkLock",
    // Team Finance: current
    "0x4f0fd563be89ec8c3e7d595bf3639128c0a7c33a": "Team Finance",
    // GoPlus: TokenLocker
    "0xf17a08a7d41f53b24ad07eb322cbbda2ebdec04b": "GoPlus",
    // GemPad: lock
    "0x10b5f02956d242ab770605d59b7d27e51e45774c": "GemPad",
  },
  ethereum: {
    // UNCX: V2 locker, Uniswap V2
    "0x663a5c229c09b049e36dcc11a9b0d4a8eb9db214": "UNCX",
    // UNCX: V2 locker, SushiSwap
    "0xed9180976c2a4742c7a57354fd39d8bec6cbd8ab": "UNCX",
    // PinkLock: V2
    "0x71b5759d73262fbb223956913ecf4ecc51057641": "PinkLock",
    // PinkLock: V1
    "0x33d4cc8716beb13f814f538ad3b2de3b036f5e2a": "PinkLock",
    // PinkLock: V3 (lock ids from 5,000,000)
    "0x29aed81d274f94cea037d05bb61eb93223a48a77": "PinkLock",
    // Team Finance: current
    "0xe2fe530c047f2d85298b07d9333c05737f1435fb": "Team Finance",
    // Team Finance: older
    "0xdbf72370021babafbceb05ab10f99ad275c6220a": "Team Finance",
    // Team Finance: older
    "0xc77aab3c6d7dab46248f3cc3033c856171878bd5": "Team Finance",
    // GoPlus: TokenLocker
    "0xf17a08a7d41f53b24ad07eb322cbbda2ebdec04b": "GoPlus",
    // DxSale: DxLock V3
    "0xc68c522682614a9f1d336f756c0c0d71352925d3": "DxSale",
    // DxSale: DxLock V3
    "0x1ba00c14f9e8d1113028a14507f1394dc9310fbd": "DxSale",
    // DxSale: DxLock V3
    "0xe74083bafe69cd74519c6a40a3ad0723bd360bdd": "DxSale",
    // Fair Token Project: LiqLock
    "0x55e2adaeb2798ddc474311ad98b23d0b62c1ebd8": "Fair Token Project",
    // GemPad: lock
    "0x10b5f02956d242ab770605d59b7d27e51e45774c": "GemPad",
  },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

/** Returns the lockers' addresses on the chain, in lower case; none if it has no known ones. */
export function lockersOf(chain: string): ReadonlySet<string> {
  const known: Readonly<Record<string, Readonly<Record<string, string>>>> = LOCKERS;
  return new Set(Object.keys(known[chain] ?? {}));
}
