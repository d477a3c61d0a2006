import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Returns the identity under which an address is counted, the same for every spelling of it. An
 * IPv4 address counts as itself, also in IPv6 notation. An IPv6 address counts by its first 64
 * bits: a household gets at least that many, and its machines can use any address within. Other
 * text is returned unchanged.
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
