import type { ContractSource, Explanation } from "../../model/index.ts";

/** The warning's name for source code that is known not to be verified. */
const UNVERIFIED = "unverified-source";

/**
 * Describes whether the token's source code is verified. `NOTOK` alone does not mean that it is
 * not, because it may never have been looked up. The warning means that it was.
 */
export function sourceText({ status }: ContractSource, why: Explanation | undefined): string {
  if (status === "1") return "verified";
  return why?.warnings.includes(UNVERIFIED) ? "not verified" : "not known";
}
