import { FlarewireError } from "../../base/protocol/index.ts";

/** Returns true for the error of invalid settings: see `loadConfig`. */
export function isSettingError(error: unknown): error is FlarewireError {
  return error instanceof FlarewireError && error.code === "invalid-setting";
}
