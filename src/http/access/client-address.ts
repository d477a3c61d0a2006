import { isIPv4, isIPv6 } from "node:net";

/**
 * What counts as one client of this address: an IPv4 address itself, also where it is written as IPv6; of an IPv6 address its first 64
 * bits, as that is the least that a household is given and any of its machines can have as many of its addresses as it likes. Other
 * texts are what they are.
 */
export function clientOf(address: string): string {
  // Asked for each request, nearly always with an IPv4 address.
  if (!address.includes(":")) return address;
  const plain = address.split("%", 1)[0] ?? "";
  if (!isIPv6(plain)) return address;
  const mapped = /^(?:0{0,4}:){2,5}ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  // A dotted end is in the last 64 bits, of which only the length matters.
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
