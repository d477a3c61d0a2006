import type { View } from "../../../client/index.ts";
import type { AnyFlare } from "../../../model/index.ts";

/** One group's lists of flares, with what is known about each flare. */
export interface FlareLists extends Pick<View, "explanations" | "outcomes"> {
  readonly flares?: Partial<Readonly<Record<"pro" | "free" | "finished_trending", readonly AnyFlare[]>>>;
}
