import type { IncomingHttpHeaders } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { clientOf } from "../../../../src/gateway/http/access/client-address.ts";
import { sanitizeForwardedFor } from "../../../../src/gateway/http/access/trusted-peers.ts";

/** Ways to write an address that do not change which address it is. */
const spelling = fc.record({
  digits: fc.constantFrom(1, 4),
  isUpperCase: fc.boolean(),
  isDotted: fc.boolean(),
  /** Where the zeros that `::` replaces begin, if there are any. */
  zerosAt: fc.option(fc.nat(7)),
  zone: fc.constantFrom("", "%eth0"),
});
type Spelling = typeof spelling extends fc.Arbitrary<infer T> ? T : never;

const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
const groups = fc.array(group, { minLength: 8, maxLength: 8 });
const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });
/** Text that a proxy may write around an IPv6 address. */
const around = fc.constantFrom(["", ""], ["[", "]"], ["[", "]:51234"], ["198.51.100.1, ", " "]);

/** Returns an IPv4 address as the eight groups of an IPv6 one. */
function mapped([a = 0, b = 0, c = 0, d = 0]: readonly number[]): readonly number[] {
  return [0, 0, 0, 0, 0, 0xffff, a * 256 + b, c * 256 + d];
}

function spell(address: readonly number[], { digits, isUpperCase, isDotted, zerosAt }: Spelling): string {
  const last = address.slice(6).flatMap((number) => [number >> 8, number & 255]);
  const parts = [
    ...address.slice(0, isDotted ? 6 : 8).map((number) => number.toString(16).padStart(digits, "0")),
    ...(isDotted ? [last.join(".")] : []),
  ];
  const isZero = (part: string | undefined) => part !== undefined && /^0+$/.test(part);
  let text = parts.join(":");
  if (zerosAt !== null && isZero(parts[zerosAt])) {
    let end = zerosAt;
    while (isZero(parts[end])) end += 1;
    text = `${parts.slice(0, zerosAt).join(":")}::${parts.slice(end).join(":")}`;
  }
  return isUpperCase ? text.toUpperCase() : text;
}

/** Returns the client behind a trusted proxy that sends this field. */
function clientBehind(field: string): string {
  const headers: IncomingHttpHeaders = { "x-forwarded-for": field };
  sanitizeForwardedFor(headers);
  return clientOf(String(headers["x-forwarded-for"]).split(", ").at(-1) ?? "");
}

test("[W33] every spelling of an IPv4 address is one client, both for a peer and behind a proxy", () => {
  fc.assert(
    fc.property(octets, spelling, around, (address, how, [before, after]) => {
      const client = address.join(".");
      const text = spell(mapped(address), how);
      expect(clientOf(text + how.zone)).toBe(client);
      expect(clientBehind(before + text + after)).toBe(client);
      expect(clientBehind(`${client}:51234`)).toBe(client);
    }),
    {
      examples: [
        [[9, 9, 9, 14], { digits: 1, isUpperCase: false, isDotted: false, zerosAt: 0, zone: "" }, ["", ""]],
      ],
    },
  );
});

test("[W33] every spelling of every IPv6 address of one network is one client, and other networks are other clients", () => {
  fc.assert(
    fc.property(groups, groups, spelling, spelling, around, (one, other, how, otherHow, [before, after]) => {
      fc.pre(one.slice(0, 4).some((number) => number !== 0));
      const sibling = [...one.slice(0, 4), ...other.slice(4)];
      const client = clientOf(spell(one, how) + how.zone);
      expect(client).toBe(
        `${one
          .slice(0, 4)
          .map((number) => number.toString(16))
          .join(":")}::/64`,
      );
      expect(clientBehind(before + spell(sibling, otherHow) + after)).toBe(client);
      const isSame = one.slice(0, 4).join() === other.slice(0, 4).join();
      expect(clientOf(spell(other, otherHow)) === client).toBe(isSame);
    }),
  );
});
