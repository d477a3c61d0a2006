import fc from "fast-check";

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/** Any code point but a surrogate. fast-check's own `unit: "binary"` first lists all of them. */
const character = fc.nat(0x10ffff - SURROGATES).map(
  (place) => String.fromCodePoint(place < FIRST_SURROGATE ? place : place + SURROGATES),
  (text) => {
    const code = typeof text === "string" ? (text.codePointAt(0) ?? -1) : -1;
    const isOne = typeof text === "string" && code >= 0 && String.fromCodePoint(code) === text;
    if (!isOne || !text.isWellFormed()) throw new Error("not one code point");
    return code < FIRST_SURROGATE ? code : code - SURROGATES;
  },
);

/** Text of any characters, also of control characters and of names such as `__proto__`. */
export const anyText = (constraints: fc.StringSharedConstraints = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: character });
