import { z } from "zod";

/** `item` enters the list at `index`, counted from 0 in the list as it is at that moment. */
export const InsertChange = z.object({ op: z.literal("insert"), index: z.int().min(0), item: z.unknown() });
/** The item with this key leaves the list. */
export const RemoveChange = z.object({ op: z.literal("remove"), id: z.string() });
/** Fields of the item with this key take these values; `null` is a value, nested objects are replaced whole; fields in `unset` vanish. */
export const SetChange = z.object({
  op: z.literal("set"),
  id: z.string(),
  set: z.record(z.string(), z.unknown()),
  unset: z.array(z.string()).optional(),
});
/** The list's items, all of them and no others, stand in this order. */
export const OrderChange = z.object({ op: z.literal("order"), ids: z.array(z.string()) });

/** The schema of `Change`: one step from a list to the next. */
export const ChangeSchema = z.discriminatedUnion("op", [InsertChange, RemoveChange, SetChange, OrderChange]);
