import type { Locked } from "../explanation.ts";

const DAY_CHARACTERS = 10;

/**
 * Says how much of a token's liquidity its makers cannot take: `97 % locked until 2027-03-01`, or
 * `not locked`. A part below a percent counts as none. Empty if it is unknown.
 */
export function lockedText(locked: Locked | null | undefined): string {
  if (!locked) return "";
  const { burned, held, until } = locked;
  const percent = (share: number) => `${Math.floor(100 * share)} %`;
  const term = until === null ? "(end not known)" : `until ${until.slice(0, DAY_CHARACTERS)}`;
  const parts = [
    burned >= 0.01 ? `${percent(burned)} burned` : "",
    held >= 0.01 ? `${percent(held)} locked ${term}` : "",
  ].filter((part) => part !== "");
  return parts.length > 0 ? parts.join(", ") : "not locked";
}

/** The same as a part of a sentence about a token: `liquidity 97 % locked until 2027-03-01`. */
export function lockedPart(locked: Locked | null | undefined): string {
  const text = lockedText(locked);
  return text === "" ? "" : `liquidity ${text}`;
}
