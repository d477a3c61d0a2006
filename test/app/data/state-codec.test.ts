import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeState, encodeState } from "../../../src/app/data/state-codec.ts";

const number = fc.double();
const leaf = fc.oneof(
  number,
  fc.string(),
  fc.boolean(),
  fc.constant(null),
  fc.array(number).map((values) => Float64Array.from(values)),
  fc.array(fc.nat()).map((values) => Uint32Array.from(values)),
  fc.array(fc.nat(255)).map((values) => Uint8Array.from(values)),
);
const name = fc.string().filter((key) => !key.startsWith("$") && key !== "__proto__");
const { state } = fc.letrec<{ state: unknown }>((tie) => ({
  state: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.array(tie("state"), { maxLength: 4 }),
    fc.dictionary(name, tie("state"), { maxKeys: 4, noNullPrototype: true }),
    fc.array(fc.tuple(name, tie("state")), { maxLength: 4 }).map((entries) => new Map(entries)),
  ),
}));

test("any state survives a round trip through JSON text, bit for bit", () => {
  fc.assert(
    fc.property(state, (value) => {
      expect(decodeState(JSON.parse(JSON.stringify(encodeState(value))))).toStrictEqual(value);
    }),
  );
});

test("a value that is not data is rejected with its type", () => {
  expect(() => encodeState({ f: () => 1 })).toThrow("cannot encode a function");
  expect(() => decodeState({ $map: 3 })).toThrow("a map's entries must be a list");
  expect(() => decodeState({ $f64: "x" })).toThrow("$f64 must be base64");
  expect(() => decodeState({ $u32: "AAAA*" })).toThrow("$u32 must be base64");
  expect(() => decodeState({ $u32: "AAAA" })).toThrow("$u32 has 3 bytes");
});
