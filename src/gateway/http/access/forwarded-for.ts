import type { IncomingHttpHeaders } from "node:http";
import { isIPv4, isIPv6 } from "node:net";

/**
 * Reduces `X-Forwarded-For` to plain addresses, because some proxies append a port. Drops an entry
 * that is not an address, and all entries to its left, because clients can send any text.
 */
export function sanitizeForwardedFor(headers: IncomingHttpHeaders): void {
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

/** Parses `ip`, `ip:port` or `[ip]:port`; returns `undefined` for other text. */
function addressOf(entry: string): string | undefined {
  if (isIPv6(entry)) return entry;
  const [, inBrackets, plain = inBrackets] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(entry) ?? [];
  if (plain === undefined) return undefined;
  return (inBrackets === undefined ? isIPv4(plain) : isIPv6(plain)) ? plain : undefined;
}
