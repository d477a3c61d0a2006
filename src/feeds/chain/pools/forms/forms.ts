import type { FactoryForm, PoolFormName } from "../../network.ts";
import { INFINITY_BIN } from "./bins/infinity-bin.ts";
import { LIQUIDITY_BOOK } from "./bins/liquidity-book.ts";
import { CURVE } from "./curves.ts";
import type { PoolForm } from "./pool-form.ts";
import { POSITIONS } from "./positions/positions.ts";
import { V3 } from "./ranges.ts";
import { V2 } from "./reserves.ts";

export const FORMS: Readonly<Record<PoolFormName, PoolForm>> = {
  v2: V2,
  v3: V3,
  positions: POSITIONS,
  bins: LIQUIDITY_BOOK,
  "infinity-bin": INFINITY_BIN,
  curve: CURVE,
};

/** Returns the form of a factory's pools. */
export function formOf(form: FactoryForm): PoolFormName {
  if (form === "algebra" || form === "v3-spacing") return "v3";
  if (form === "solidly" || form === "velodrome") return "v2";
  if (form === "liquidity-book") return "bins";
  if (form === "four-meme" || form === "flap" || form === "arena") return "curve";
  return form === "uniswap-v4" || form === "infinity-cl" ? "positions" : form;
}
