import { FlareRows } from "./flare-rows.ts";

/**
 * `<flare-list limit="5">`: the current flares, newest first, with name, change, warning, start
 * time and site.
 */
export class FlareList extends FlareRows {
  constructor() {
    super(false, "Flaring tokens");
  }
}
