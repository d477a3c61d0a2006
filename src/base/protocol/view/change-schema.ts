import { z } from "zod";

export const InsertChange = z
  .object({ op: z.literal("insert"), index: z.int().min(0), item: z.unknown() })
  .describe("Inserts `item` at `index`, counted from 0 in the list at that moment.");
export const RemoveChange = z
  .object({ op: z.literal("remove"), id: z.string() })
  .describe("Removes the item with this key.");
export const SetChange = z
  .object({
    op: z.literal("set"),
    id: z.string(),
    set: z.record(z.string(), z.unknown()),
    unset: z.array(z.string()).optional(),
  })
  .describe(
    "Sets fields of the item with this key. `null` is a value, nested objects are replaced as a whole, and fields in `unset` are deleted.",
  );
export const OrderChange = z
  .object({ op: z.literal("order"), ids: z.array(z.string()) })
  .describe("Reorders the list. `ids` has all of its items and no others.");

export const ChangeSchema = z
  .discriminatedUnion("op", [InsertChange, RemoveChange, SetChange, OrderChange])
  .describe("Schema of `Change`: one step from a list to the next.");
