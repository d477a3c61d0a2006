import type { ContractSource, Explanation, Locked } from "../../../base/model/index.ts";

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

const DAY_CHARACTERS = 10;

/**
 * Says how much of a token's liquidity its makers cannot take: `97 % locked until 2027-03-01`. A
 * part below a percent counts as none.
 */
export function lockedText({ burned, held, until }: Locked): string {
  const percent = (share: number) => `${Math.floor(100 * share)} %`;
  const term = until === null ? "(end not known)" : `until ${until.slice(0, DAY_CHARACTERS)}`;
  const parts = [
    burned >= 0.01 ? `${percent(burned)} burned` : "",
    held >= 0.01 ? `${percent(held)} locked ${term}` : "",
  ].filter((part) => part !== "");
  return parts.length > 0 ? parts.join(", ") : "not locked";
}
