import { FlarewireError } from "../../base/protocol/index.ts";
import type { Config } from "./settings.ts";

/** Throws FlarewireError `invalid-setting` if an embedding program asks for workers. */
export function oneProcess(config: Pick<Config, "workers">): void {
  // Another check reports a value that is not a Config.
  const { workers = 1 }: Partial<typeof config> = Object(config);
  if (workers === 1) return;
  const message = `workers must be 1 in a program that embeds the gateway, got ${workers}; for more processes, use flarewire serve`;
  throw new FlarewireError("invalid-setting", message, { field: "workers", bound: "1" });
}
