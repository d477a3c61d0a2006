import { expect, test } from "vitest";
import { hideAddress } from "../../../../src/feeds/chain/rpc/rpc-failure.ts";

const URL =
  "https://me:password1@rpc.example/v3/0123456789abcdef/pa%2Bth%2Fkey?key=a%2Fsecret%2Fkey&short=1234";

test("everything that a service repeats of its own address is hidden, but not the host and short words", () => {
  expect(hideAddress(`no access to ${URL}`, URL)).toBe("no access to https://me:…@rpc.example/v3/…/…?…");
  for (const secret of ["0123456789abcdef", "a%2Fsecret%2Fkey", "a/secret/key", "password1", "pa+th/key"])
    expect(hideAddress(`${secret} and ${secret} of v3 at rpc.example have 1234`, URL)).toBe(
      "… and … of v3 at rpc.example have 1234",
    );
});

test("names of networks are shown, but whatever can be a key is hidden", () => {
  for (const word of ["avalanche", "polygon-mainnet", "avalanche_fuji", "binance-smart-chain"])
    for (const url of [`https://rpc.example/${word}/rpc`, `https://rpc.example/rpc?network=${word}`])
      expect(hideAddress(`${word} is busy`, url)).toBe(`${word} is busy`);
  for (const key of [
    "d8e8fca2dc0f896fd7cb4cb0031ba249",
    "deadbeefdeadbeefdeadbeefdeadbeef",
    "3f2b8c1e-7a4d-4f7e-9c2a-5b8d1e6f0a3c",
    "wPq_zX-kLmNbVcXzAsDf",
    "qwertyuiopasdfghjklz",
    "QmFzZTY0",
    "KEYWORDS",
    "secret12",
    "my-secret",
    "avalanche-key",
  ])
    expect(hideAddress(`${key} is busy`, `https://rpc.example/v2/${key}`)).toBe("… is busy");
});

test("a part that begins like another leaves no rest of it", () => {
  const url = "https://rpc.example/abcdefgh?key=abcdefghijkl";
  expect(hideAddress("abcdefghijkl", url)).toBe("…");
});
