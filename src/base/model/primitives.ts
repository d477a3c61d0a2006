import { z } from "zod";
import { BASE58, GROUPS, HEX } from "./groups.ts";

export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .describe(
    "A moment in UTC with exactly three decimals, `2017-11-12T08:23:00.000Z`. Equal moments are equal strings, and strings sort by time.",
  );
export type Timestamp = z.infer<typeof Timestamp>;

export const DecimalString = z
  .string()
  .max(120)
  .regex(/^-?\d+(\.\d+)?$/)
  .describe(
    "An amount of money or of a token as a plain decimal: digits, at most one point, and a leading minus where the field allows it.",
  );
export type DecimalString = z.infer<typeof DecimalString>;

export const Id = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  .describe(
    "A UUID in lower case. Flarewire's own are version 5: derived from facts, so a replay yields the same.",
  );
export type Id = z.infer<typeof Id>;

export const Address = z
  .string()
  .max(130, "at most 130 characters")
  .regex(new RegExp(`${HEX.source}|${BASE58.source}`), "an address, 0x and hexadecimal digits, or base58")
  .describe(
    "A token's address, spelled as by the feed: `0x` and hexadecimal digits in any case, or base58, whose case counts.",
  );
export type Address = z.infer<typeof Address>;

export const Count = z.int().min(0).describe("A number of events: a non-negative integer.");
export type Count = z.infer<typeof Count>;

export const Group = z.enum(GROUPS);
export type Group = z.infer<typeof Group>;
