import { expect, test } from "vitest";
import { hideAddress } from "../../../src/feed/service/hide-address.ts";

const URL =
  "https://me:password1@rpc.example/v3/0123456789abcdef/pa%2Bth%2Fkey?key=a%2Fsecret%2Fkey&short=1234";

test("everything that a service repeats of its own address is hidden, but not the host and short words", () => {
  expect(hideAddress(`no access to ${URL}`, URL)).toBe("no access to https://me:…@rpc.example/v3/…/…?…");
  for (const secret of ["0123456789abcdef", "a%2Fsecret%2Fkey", "a/secret/key", "password1", "pa+th/key"])
    expect(hideAddress(`${secret} and ${secret} of v3 at rpc.example have 1234`, URL)).toBe(
      "… and … of v3 at rpc.example have 1234",
    );
});

test("a part that begins like another leaves no rest of it", () => {
  const url = "https://rpc.example/abcdefgh?key=abcdefghijkl";
  expect(hideAddress("abcdefghijkl", url)).toBe("…");
});
