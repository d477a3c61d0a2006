import { expect, test } from "vitest";
import { toRpcFailure } from "../../../../src/feeds/chain/rpc/rpc-failure.ts";
import { RpcError } from "../../../../src/feeds/service/json-rpc-http.ts";

test("[hostile] only the first thousand characters of an error are searched for known wordings", () => {
  const kindOf = (repeats: number) => {
    const message = `${"method ".repeat(repeats)}not found`;
    const error = new RpcError({ code: -1, message });
    return toRpcFailure(error, { url: "http://127.0.0.1/", timeoutMs: 1_000 }).kind;
  };
  expect([kindOf(1), kindOf(100)]).toEqual(["refused", "refused"]);
  // Searching all of it would take seconds.
  expect(kindOf(20_000)).toBe("failed");
});
