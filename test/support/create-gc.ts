import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Returns a function that collects all garbage synchronously. */
export function createGc(): () => void {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  return () => {
    for (let round = 0; round < 3; round += 1) gc();
  };
}
