import { FlarewireError } from "../protocol/index.ts";
import type { Config } from "./schema/settings.ts";

/** For whoever embeds the gateway: throws FlarewireError `invalid-setting` where the config asks for workers. */
export function oneProcess(config: Pick<Config, "workers">): void {
  // What is no config is told of elsewhere.
  const { workers = 1 }: Partial<typeof config> = Object(config);
  if (workers === 1) return;
  const message = `workers = ${workers} is for the command, flarewire serve: a program that embeds the gateway serves in its own process; leave workers out, or set it to 1`;
  throw new FlarewireError("invalid-setting", message, { field: "workers", bound: "1" });
}
