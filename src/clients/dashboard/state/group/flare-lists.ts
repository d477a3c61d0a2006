import type { AnyFlare } from "../../../../base/model/index.ts";
import type { View } from "../../../sdk/index.ts";

/**
 * From this length, `finished_trending` may lack earlier ends. It can be longer, because flares
 * without a final outcome stay.
 */
export const FULL_FINISHED = 100;

/** One group's lists of flares, with what is known about each flare. */
export interface FlareLists extends Pick<View, "explanations" | "outcomes"> {
  readonly flares?: Partial<Readonly<Record<"pro" | "free" | "finished_trending", readonly AnyFlare[]>>>;
}
