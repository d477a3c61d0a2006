import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Returns the identity under which an address is counted: an IPv4 address in any notation, the
 * first 64 bits of IPv6, because a household usually has all addresses below them, or other text
 * unchanged.
 */
export function clientOf(address: string): string {
  // Runs for each request, nearly always with an IPv4 address.
  if (!address.includes(":")) return address;
  const plain = address.split("%", 1)[0] ?? "";
  if (!isIPv6(plain)) return address;
  const parsed = ipaddr.process(plain);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${parsed.toNormalizedString().split(":", 4).join(":")}::/64`;
}
