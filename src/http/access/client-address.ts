import { isIPv4, isIPv6 } from "node:net";

/**
 * Returns the identity under which an address is counted. An IPv4 address counts as itself, also in
 * IPv6 notation. An IPv6 address counts by its first 64 bits: a household gets at least that many,
 * and its machines can use any address within. Other text is returned unchanged.
 */
export function clientOf(address: string): string {
  // Runs for each request, nearly always with an IPv4 address.
  if (!address.includes(":")) return address;
  const plain = address.split("%", 1)[0] ?? "";
  if (!isIPv6(plain)) return address;
  const mapped = /^(?:0{0,4}:){2,5}ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  // A dotted end lies in the last 64 bits, where only the length matters.
  const [front = "", back] = plain.replace(/\d+\.\d+\.\d+\.\d+$/, "0:0").split("::");
  const head = front === "" ? [] : front.split(":");
  const tail = back === undefined || back === "" ? [] : back.split(":");
  const filled = [
    ...head,
    ...new Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0"),
    ...tail,
  ];
  const network = filled.slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16));
  return `${network.join(":")}::/64`;
}
