import { z } from "zod";

export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .describe(
    "A moment in UTC with exactly three decimals, `2017-11-12T08:23:00.000Z`. Always the form that `Date.prototype.toISOString` prints, so equal moments are equal strings and strings sort by time.",
  );
export type Timestamp = z.infer<typeof Timestamp>;

export const DecimalString = z
  .string()
  .max(120)
  .regex(/^-?\d+(\.\d+)?$/)
  .describe(
    "An amount of money or of a token as a plain decimal string of at most 120 characters: digits, at most one point, and a leading minus where the field allows it. Never an exponent, never `NaN`.",
  );
export type DecimalString = z.infer<typeof DecimalString>;

export const Id = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  .describe(
    "An identifier in the lower-case 8-4-4-4-12 form of RFC 9562. Flarewire's own are version 5: derived from facts, so a replay yields the same.",
  );
export type Id = z.infer<typeof Id>;

export const Address = z
  .string()
  .max(130, "at most 130 characters")
  .regex(/^0x[0-9a-fA-F]+$/, "an address, 0x and hexadecimal digits")
  .describe(
    "A token's contract address: `0x` and hexadecimal digits, spelled as by the chain feed. Compare case-insensitively.",
  );
export type Address = z.infer<typeof Address>;

export const Count = z.int().min(0).describe("A number of events: a non-negative integer.");
export type Count = z.infer<typeof Count>;

/**
 * The groups of tokens, in the order of responses: three chains, and exchanges, whose tokens have
 * no address.
 */
export const GROUPS = ["bsc", "exchange", "matic", "avalanche"] as const;
export const Group = z.enum(GROUPS);
export type Group = z.infer<typeof Group>;

/** Returns a value for each group. */
export function byGroup<T>(create: (group: Group) => T): Record<Group, T> {
  return {
    bsc: create("bsc"),
    exchange: create("exchange"),
    matic: create("matic"),
    avalanche: create("avalanche"),
  };
}

/** The groups whose flares are served only to clients that name them: all but `bsc`. */
export const OTHER_GROUPS = ["exchange", "matic", "avalanche"] as const satisfies readonly Group[];
export type OtherGroup = (typeof OTHER_GROUPS)[number];

/** Returns the group of a channel's items. */
export function groupOfChannel(channel: string): Group {
  return OTHER_GROUPS.find((group) => channel.split(".").includes(group)) ?? "bsc";
}
