import { FlareRows } from "./flare-rows.ts";

/**
 * `<flare-ticker>`: the current flares on one line. It scrolls back and forth if not all fit,
 * pauses under the pointer or focus, and never moves with `still` or reduced motion.
 */
export class FlareTicker extends FlareRows {
  constructor() {
    super(true, "Flaring tokens");
  }
}
