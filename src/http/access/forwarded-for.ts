import type { IncomingHttpHeaders } from "node:http";
import { isIPv4, isIPv6 } from "node:net";

/**
 * Rewrites `X-Forwarded-For` to what can be believed of it: addresses alone, and none to the left of an entry that is no address.
 * Some proxies append a port, and clients send any text: each port and each text would count as a client of its own.
 */
export function tidyForwardedFor(headers: IncomingHttpHeaders): void {
  const given = headers["x-forwarded-for"];
  if (given === undefined) return;
  const addresses: string[] = [];
  for (const entry of String(given).split(",").reverse()) {
    const address = addressOf(entry.trim());
    if (address === undefined) break;
    addresses.unshift(address);
  }
  if (addresses.length > 0) headers["x-forwarded-for"] = addresses.join(", ");
  else delete headers["x-forwarded-for"];
}

/** The address in `ip`, `ip:port` or `[ip]:port`; `undefined` in any other text. */
function addressOf(entry: string): string | undefined {
  if (isIPv6(entry)) return entry;
  const [, inBrackets, plain = inBrackets] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(entry) ?? [];
  if (plain === undefined) return undefined;
  return (inBrackets === undefined ? isIPv4(plain) : isIPv6(plain)) ? plain : undefined;
}
