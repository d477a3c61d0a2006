import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Returns the text under which an address is counted. For IPv6 it is the first 64 bits, because one
 * household usually has all addresses with this prefix. IPv4-mapped IPv6 becomes plain IPv4. Other
 * text is returned unchanged. Node has no address, `undefined`, for a connection that was reset.
 */
export function clientOf(address: string | undefined = ""): string {
  // Runs for each request, nearly always with an IPv4 address.
  if (!address.includes(":")) return address;
  const plain = address.split("%", 1)[0] ?? "";
  if (!isIPv6(plain)) return address;
  const parsed = ipaddr.process(plain);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${parsed.toNormalizedString().split(":", 4).join(":")}::/64`;
}
