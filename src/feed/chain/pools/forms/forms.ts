import type { FactoryForm, PoolFormName } from "../../network.ts";
import type { PoolForm } from "./pool-form.ts";
import { POSITIONS } from "./positions/positions.ts";
import { V3 } from "./ranges.ts";
import { V2 } from "./reserves.ts";

/** Every form of pools. */
export const FORMS: Readonly<Record<PoolFormName, PoolForm>> = {
  v2: V2,
  v3: V3,
  positions: POSITIONS,
};

/** Returns the form of a factory's pools. */
export function formOf(form: FactoryForm): PoolFormName {
  if (form === "algebra") return "v3";
  return form === "uniswap-v4" || form === "infinity-cl" ? "positions" : form;
}
