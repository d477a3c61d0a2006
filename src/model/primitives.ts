import { z } from "zod";

/**
 * A moment in UTC with exactly three decimals, `2017-11-12T08:23:00.000Z`. Always the form that
 * `Date.prototype.toISOString` prints, so equal moments are equal strings and strings sort by time.
 */
export const Timestamp = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
export type Timestamp = z.infer<typeof Timestamp>;

/**
 * An amount of money or of a token as a plain decimal string: digits, at most one point, a leading minus
 * where the meaning allows one; never an exponent, never `NaN`. At most 120 characters.
 */
export const DecimalString = z
  .string()
  .max(120)
  .regex(/^-?\d+(\.\d+)?$/);
export type DecimalString = z.infer<typeof DecimalString>;

/** An identifier in the 8-4-4-4-12 form of RFC 9562, lower case. Flarewire's own are version 5: derived from facts, so that a replay yields the same. */
export const Id = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
export type Id = z.infer<typeof Id>;

/** A token's contract address: `0x` and hexadecimal digits, as the chain feed found it. Compare without regard to case. */
export const Address = z
  .string()
  .max(130, "at most 130 characters")
  .regex(/^0x[0-9a-fA-F]+$/, "an address, 0x and hexadecimal digits");
export type Address = z.infer<typeof Address>;

/** A count of events: a whole number, never negative. */
export const Count = z.int().min(0);
export type Count = z.infer<typeof Count>;

/**
 * The markets that Flarewire tells apart, in the order in which every response lists them. `bsc`, `matic` and
 * `avalanche` are blockchain networks; `exchange` is a centralised exchange, whose tokens have no address.
 */
export const GROUPS = ["bsc", "exchange", "matic", "avalanche"] as const;
export const Group = z.enum(GROUPS);
export type Group = z.infer<typeof Group>;
