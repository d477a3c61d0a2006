import { type GroupName, normalizeAddress } from "./groups.ts";

/** Identifies a token among all groups, as in `matic/0x1234`. */
export function groupedKey({ group, token }: { readonly group: GroupName; readonly token: string }): string {
  return `${group}/${normalizeAddress(group, token)}`;
}

/** Shortens an address as most wallets do: `0x1234…abcd`. */
export function shortAddress(address: string): string {
  return address.length > 12 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address;
}
