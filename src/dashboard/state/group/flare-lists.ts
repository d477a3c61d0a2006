import type { View } from "../../../client/index.ts";
import type { AnyFlare } from "../../../model/index.ts";

/** Length at which `finished_trending` is full: earlier ends may be missing from it. */
export const MAX_FINISHED = 100;

/** One group's lists of flares, with what is known about each flare. */
export interface FlareLists extends Pick<View, "explanations" | "outcomes"> {
  readonly flares?: Partial<Readonly<Record<"pro" | "free" | "finished_trending", readonly AnyFlare[]>>>;
}
