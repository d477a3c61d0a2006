import { FlareRows } from "./flare-rows.ts";

/** `<flare-list limit="5">`: what flares now, newest first, with name, change, warning, time of its start and site. */
export class FlareList extends FlareRows {
  constructor() {
    super(false, "Flaring tokens");
  }
}
