import fc from "fast-check";

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Any code point except surrogates. fast-check's `unit: "binary"` is slower: it lists them all
 * first.
 */
const character = fc.nat(0x10ffff - SURROGATES).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES),
  (text) => {
    const code = typeof text === "string" ? (text.codePointAt(0) ?? -1) : -1;
    const isOne = typeof text === "string" && code >= 0 && String.fromCodePoint(code) === text;
    if (!isOne || !text.isWellFormed()) throw new Error("not one code point");
    return code < FIRST_SURROGATE ? code : code - SURROGATES;
  },
);

/** Text of arbitrary characters, including control characters and names such as `__proto__`. */
export const anyText = (constraints: fc.StringSharedConstraints = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: character });
