import { randomBytes } from "node:crypto";
import { type Epoch, toEpoch } from "../protocol/index.ts";

/** A new epoch: 16 hexadecimal digits by chance, so that no two histories share a name. */
export function randomEpoch(): Epoch {
  return toEpoch(randomBytes(8).toString("hex"));
}
