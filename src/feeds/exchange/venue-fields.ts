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

/** Converts a decimal string to a number. A missing, malformed or negative one becomes 0. */
export const Quantity = z
  .string()
  .nullish()
  .transform((text) => {
    const value = Number(text ?? 0);
    return Number.isFinite(value) && value > 0 ? value : 0;
  });

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
