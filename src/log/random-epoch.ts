import { randomBytes } from "node:crypto";
import { type Epoch, toEpoch } from "../protocol/index.ts";

/** Creates an epoch: 16 random hexadecimal digits, so that no two histories share one. */
export function randomEpoch(): Epoch {
  return toEpoch(randomBytes(8).toString("hex"));
}
