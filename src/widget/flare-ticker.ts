import { FlareRows } from "./flare-rows.ts";

/** `<flare-ticker>`: what flares now on one line, which moves to and fro where there is more than fits, rests under pointer and focus, and never moves where the visitor or `still` wants none of it. */
export class FlareTicker extends FlareRows {
  constructor() {
    super(true, "Flaring tokens");
  }
}
