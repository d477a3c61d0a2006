import { expect, test } from "vitest";
import { mintSecret, TICKET_MS, TICKETS_OF_KEY, TicketTable } from "../../../src/gateway/keys/index.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

test("the table has a total limit over all keys, and used or expired tickets no longer count", () => {
  const clock = new ManualClock();
  const table = new TicketTable(clock);
  const first = table.issue("first").text;
  let issued = 1;
  for (let key = 0; issued < 10_000; key++) {
    for (let count = 0; count < TICKETS_OF_KEY && issued < 10_000; count++, issued++)
      table.issue(`key ${key}`);
  }
  expect(() => table.issue("another")).toThrow("the server has 10000 unused tickets; the limit is 10000");
  expect(table.refOfTicket(first)).toBe("first");
  table.spend(first);
  expect([table.refOfTicket(first), table.size]).toEqual([undefined, 9_999]);
  clock.advance(1_000);
  const last = table.issue("another").text;
  clock.advance(TICKET_MS - 1_000);
  expect([table.size, table.refOfTicket(last)]).toEqual([1, "another"]);
  clock.advance(1_000);
  expect([table.size, table.refOfTicket(last)]).toEqual([0, undefined]);
});

test("a ticket's expiry does not depend on the wall clock, and no two tickets share an id", () => {
  const clock = new ManualClock();
  const secret = mintSecret("fwt");
  const made = [secret, secret, mintSecret("fwt")];
  const table = new TicketTable(clock, () => made.shift() ?? mintSecret("fwt"));
  const [one, other] = [table.issue("a").text, table.issue("b").text];
  expect([table.refOfTicket(one), table.refOfTicket(other)]).toEqual(["a", "b"]);
  clock.jumpWall(86_400_000);
  expect(table.refOfTicket(one)).toBe("a");
});

test("[K7] the tickets of a removed key are invalid, and those of others stay valid", () => {
  const table = new TicketTable(new ManualClock());
  const gone = Array.from({ length: TICKETS_OF_KEY }, () => table.issue("gone").text);
  const other = table.issue("other").text;
  table.forget("gone");
  expect(gone.filter((text) => table.refOfTicket(text) !== undefined || table.spend(text))).toEqual([]);
  expect([table.size, table.refOfTicket(other)]).toEqual([1, "other"]);
  // A later key may have the same id.
  for (let count = 0; count < TICKETS_OF_KEY; count += 1) table.issue("gone");
  expect(table.size).toBe(1 + TICKETS_OF_KEY);
});

test("[K4] each key has a limit of unused tickets, and a used or expired ticket makes room for another", () => {
  const clock = new ManualClock();
  const table = new TicketTable(clock);
  const [first] = Array.from({ length: TICKETS_OF_KEY }, () => table.issue("mine").text);
  const refused = `the key has ${TICKETS_OF_KEY} unused tickets; the limit is ${TICKETS_OF_KEY}`;
  for (let round = 0; round < 2; round += 1) {
    expect(() => table.issue("mine")).toThrow(refused);
    expect(table.refOfTicket(table.issue("other").text)).toBe("other");
    if (round === 0) table.spend(first ?? "");
    else clock.advance(TICKET_MS);
    table.issue("mine");
  }
});
