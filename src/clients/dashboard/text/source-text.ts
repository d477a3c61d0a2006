import type { ContractSource, Explanation } from "../../../base/model/index.ts";

/** The warning that the source code was looked up and is not verified. */
const UNVERIFIED = "unverified-source";

/**
 * Describes whether the token's source code is verified. The status 0 (`NOTOK`) can also mean that
 * nobody looked it up. Only the warning shows that it is not verified.
 */
export function sourceText({ status }: ContractSource, why: Explanation | undefined): string {
  if (status === "1") return "verified";
  return why?.warnings.includes(UNVERIFIED) ? "not verified" : "not known";
}
