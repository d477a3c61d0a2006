import { z } from "zod";
import { SECOND_MS } from "../../base/lib/time/time.ts";
import { plainDecimal } from "../plain-decimal.ts";

/** A decimal in any of the exchanges' spellings, normalized. */
export const Decimal = z.string().transform((text, context) => {
  const plain = plainDecimal(text);
  if (plain !== undefined) return plain;
  context.addIssue({ code: "custom", message: "must be a decimal number" });
  return z.NEVER;
});

/** Share of an exchange's list that must be valid. With less, it counts as unavailable. */
export const MIN_SHARE = 0.5;

/** A decimal as a number. A negative one becomes 0. */
export const Quantity = Decimal.transform((text) => Math.max(0, Number(text)));

/** The name of a currency, converted to upper case. */
export const Currency = z
  .string()
  .min(1)
  .max(64)
  .transform((text) => text.toUpperCase());

/** Seconds since 1970, converted to milliseconds. */
export const Seconds = z
  .union([z.string().regex(/^\d{9,11}$/), z.int()])
  .transform((value) => Number(value) * SECOND_MS);
