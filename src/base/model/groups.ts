/*
 * The groups of tokens: chains and the exchanges. This table is the only place that lists them.
 * A row more is a group more, in every resource, channel, type and menu.
 */

/** What is known about a group. */
export interface GroupFacts {
  /** Its name on pages and in sentences. */
  readonly label: string;
  readonly kind: "chain" | "exchange";
  /**
   * What identifies its tokens: hexadecimal addresses, whose case is a checksum, base58 addresses,
   * whose case counts, or an exchange's symbols.
   */
  readonly names: "hex" | "exact" | "symbol";
  /** The chain's id in EIP-155. */
  readonly chainId?: number;
  /**
   * Only those who name the group get its charts and leaderboards: the resources without `group`
   * and the patterns `*`, `charts.*` and `leaderboards.*` leave it out.
   */
  readonly additional?: boolean;
  /** Services with this API may lack its chart, because the specification does not show it. */
  readonly optionalChart?: boolean;
  /** Other words for the group than its name and label, in lower case. */
  readonly aliases?: readonly string[];
  /** Sites about a token, each with its label and an address that the token's completes. */
  readonly sites?: readonly (readonly [label: string, prefix: string])[];
}

/** The groups, in the order of responses. */
export const GROUP_TABLE = {
  bsc: {
    label: "BSC",
    kind: "chain",
    names: "hex",
    chainId: 56,
    aliases: ["bnb", "binance"],
    sites: [
      ["BscScan", "https://bscscan.com/token/"],
      ["DEX", "https://pancakeswap.finance/swap?outputCurrency="],
    ],
  },
  exchange: { label: "Exchange", kind: "exchange", names: "symbol" },
  matic: {
    label: "Polygon",
    kind: "chain",
    names: "hex",
    chainId: 137,
    aliases: ["pol"],
    sites: [["PolygonScan", "https://polygonscan.com/token/"]],
  },
  avalanche: {
    label: "Avalanche",
    kind: "chain",
    names: "hex",
    chainId: 43_114,
    optionalChart: true,
    aliases: ["avax"],
    sites: [["Snowtrace", "https://snowtrace.io/token/"]],
  },
  solana: {
    label: "Solana",
    kind: "chain",
    names: "exact",
    additional: true,
    aliases: ["sol"],
    sites: [["Solscan", "https://solscan.io/token/"]],
  },
  base: {
    label: "Base",
    kind: "chain",
    names: "hex",
    chainId: 8_453,
    additional: true,
    sites: [
      ["BaseScan", "https://basescan.org/token/"],
      ["DEX", "https://app.uniswap.org/explore/tokens/base/"],
    ],
  },
  ethereum: {
    label: "Ethereum",
    kind: "chain",
    names: "hex",
    chainId: 1,
    additional: true,
    aliases: ["eth"],
    sites: [
      ["Etherscan", "https://etherscan.io/token/"],
      ["DEX", "https://app.uniswap.org/explore/tokens/ethereum/"],
    ],
  },
  robinhood: {
    label: "Robinhood Chain",
    kind: "chain",
    names: "hex",
    chainId: 4_663,
    additional: true,
    sites: [
      ["Blockscout", "https://robinhoodchain.blockscout.com/token/"],
      ["DEX", "https://app.uniswap.org/explore/tokens/robinhood/"],
    ],
  },
} as const satisfies Record<string, GroupFacts>;

type Table = typeof GROUP_TABLE;
/** The groups whose rows have these values. */
type GroupsWith<Row> = { [G in GroupName]: Table[G] extends Row ? G : never }[GroupName];

/** A group's name on the wire. */
export type GroupName = keyof Table;
/** The groups whose flares are served only to clients that name them: all but `bsc`. */
export type OtherGroup = Exclude<GroupName, "bsc">;
/** The groups whose tokens have addresses. */
export type ChainGroup = GroupsWith<{ readonly kind: "chain" }>;
/** The groups outside the resources and channels of the specification. */
export type AdditionalGroup = GroupsWith<{ readonly additional: true }>;

/** The facts of a group that is known only at run time. */
export const GROUP_FACTS: Readonly<Record<GroupName, GroupFacts>> = GROUP_TABLE;

export const GROUPS = /* @__PURE__ */ Object.keys(GROUP_TABLE) as readonly GroupName[];

export const OTHER_GROUPS = /* @__PURE__ */ GROUPS.filter((group): group is OtherGroup => group !== "bsc");

export const CHAIN_GROUPS = /* @__PURE__ */ GROUPS.filter(
  (group): group is ChainGroup => GROUP_FACTS[group].kind === "chain",
);

/** The chains whose items have the form of chains: all but `bsc`. */
export const OTHER_CHAINS = /* @__PURE__ */ CHAIN_GROUPS.filter(
  (group): group is Exclude<ChainGroup, "bsc"> => group !== "bsc",
);

/** Whether only those who name the group get its charts and leaderboards. */
export function isAdditional(group: GroupName): boolean {
  return GROUP_FACTS[group].additional === true;
}

/** Returns a value for each group. */
export function byGroup<T>(create: (group: GroupName) => T): Record<GroupName, T> {
  return Object.fromEntries(GROUPS.map((group) => [group, create(group)])) as Record<GroupName, T>;
}

/** A value for each group, by the form of its items: of `bsc`, the exchange or a chain. */
export type GroupValues<Bsc, Exchange, Chain> = {
  [G in GroupName]: G extends "bsc" ? Bsc : G extends ChainGroup ? Chain : Exchange;
};

/** Returns for each group the value of the form of its items. */
export function byForm<Bsc, Exchange, Chain>(
  bsc: Bsc,
  exchange: Exchange,
  chain: Chain,
): GroupValues<Bsc, Exchange, Chain> {
  const formOf = (group: GroupName) => (GROUP_FACTS[group].kind === "chain" ? chain : exchange);
  return byGroup((group) => (group === "bsc" ? bsc : formOf(group))) as GroupValues<Bsc, Exchange, Chain>;
}

/** Returns the group of a channel's items. */
export function groupOfChannel(channel: string): GroupName {
  return OTHER_GROUPS.find((group) => channel.split(".").includes(group)) ?? "bsc";
}

/** Returns the group that people call this, ignoring case. */
export function groupCalled(text: string): GroupName | undefined {
  const word = text.toLowerCase();
  return GROUPS.find((group) => wordsFor(group).includes(word));
}

/** Returns the words for a group, in lower case. */
export function wordsFor(group: GroupName): readonly string[] {
  const { label, aliases = [] } = GROUP_FACTS[group];
  return [group, label.toLowerCase(), ...aliases];
}

export const HEX = /^0x[0-9a-fA-F]+$/;
export const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Whether a token of the group can have this name: an address, or any symbol. */
export function isNameIn(group: GroupName, name: string): boolean {
  const { names } = GROUP_FACTS[group];
  return names === "symbol" || (names === "hex" ? HEX : BASE58).test(name);
}

/** Returns a token's address or symbol in the form in which names of the group are compared. */
export function normalizeAddress(group: GroupName, name: string): string {
  return GROUP_FACTS[group].names === "hex" ? name.toLowerCase() : name;
}

/** Returns a name of an unknown group in lower case, unless it is an address whose case counts. */
export function foldAddress(name: string): string {
  return BASE58.test(name) ? name : name.toLowerCase();
}
