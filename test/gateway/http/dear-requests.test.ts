import { expect } from "vitest";
import { test } from "./rest/rest-fixture.ts";

test("dear requests that arrive together begin in turns of their own, so that a cheap one after them is answered first", async ({
  makeRest,
}) => {
  const order: string[] = [];
  const rest = await makeRest({
    register: ({ app }) => {
      app.get("/dear", { config: { contract: { cost: 5 } } }, async () => {
        // What it takes of the processor.
        rest.clock.advance(10);
        return "dear";
      });
      app.get("/cheap", async () => "cheap");
    },
  });
  const ask = async (path: string) => {
    const { payload } = await rest.app.inject(path);
    order.push(payload);
  };
  await Promise.all([...Array.from({ length: 8 }, () => ask("/dear")), ask("/cheap")]);
  expect(order.toSorted()).toEqual(["cheap", ...Array(8).fill("dear")]);
  expect(order.indexOf("cheap")).toBeLessThan(3);
});
