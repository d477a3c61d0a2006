import { expect, test } from "vitest";
import { z } from "zod";
import { reasonOf, Unread } from "../../../src/feeds/service/unread.ts";

/** Returns why a record of texts is refused. */
function reasonFor(value: unknown): string {
  const { error } = z.record(z.string(), z.string()).safeParse(value);
  return reasonOf(error, value);
}

test("a reason contains no index and no text of the service except short names", () => {
  expect(reasonFor({ price_usd: 7 })).toBe("price_usd is invalid");
  const hostile = ['x", <script>\n', "A".repeat(5_000), "31", "", "Größe", "a b", "A".repeat(32)];
  for (const key of hostile) expect(reasonFor({ [key]: 7 })).toMatch(/^(\*|it) is invalid$/);
  expect(reasonFor({ ["a.".repeat(5_000)]: 7 }).length).toBeLessThan(120);
  const list = [{ price: "1" }, { price: null }];
  const { error } = z.array(z.object({ price: z.string() })).safeParse(list);
  expect(reasonOf(error, list)).toBe("*.price is null");
});

test("further reasons count as one, and no counter starts again", () => {
  const unread = new Unread();
  for (let round = 0; round < 2; round++)
    for (let index = 0; index < 300; index++) unread.count("coins", `field${index} is missing`);
  const { counts } = unread;
  expect(Object.keys(counts)).toHaveLength(101);
  expect([counts["coins: field0 is missing"], counts["coins: other"]]).toEqual([2, 400]);
});
