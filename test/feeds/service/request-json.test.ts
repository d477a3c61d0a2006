import { expect, test } from "vitest";
import { connectionTrouble } from "../../../src/feeds/service/request-json.ts";

test("the first known code in the chain of causes describes a failed connection", () => {
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  const failed = new Error("fetch failed", { cause: Object.assign(new Error("all"), { cause: refused }) });
  expect(connectionTrouble(failed)).toBe("refused the connection");
  expect(connectionTrouble(new Error("other"))).toBeUndefined();
  expect(connectionTrouble({ code: "ECONNREFUSED" })).toBeUndefined();
});

test("an error that is its own cause, directly or through another, describes nothing", () => {
  const own = new Error("own");
  own.cause = own;
  const [one, other] = [new Error("one"), new Error("other")];
  [one.cause, other.cause] = [other, one];
  expect([connectionTrouble(own), connectionTrouble(one)]).toEqual([undefined, undefined]);
});
