import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createListeners } from "../../../src/clients/sdk/listeners.ts";
import type { StreamError } from "../../../src/clients/sdk/stream-error.ts";

const STATUS = { state: "live", transport: "sse", reason: "" } as const;

test("a listener is called once per registration until that is removed, and other listeners stay", () => {
  const { add, emit } = createListeners();
  const calls: string[] = [];
  const twice = () => void calls.push("twice");
  const removers = [
    add("connection", twice),
    add("connection", twice),
    add("connection", () => calls.push("other")),
  ];
  emit("connection", STATUS);
  expect(calls.splice(0)).toEqual(["twice", "twice", "other"]);
  removers[0]?.();
  removers[0]?.();
  emit("connection", STATUS);
  expect(calls.splice(0)).toEqual(["twice", "other"]);
  removers[2]?.();
  removers[1]?.();
  emit("connection", STATUS);
  expect(calls).toEqual([]);
});

test("a once listener is called once, even if it emits again, and remove works for both kinds of listeners", () => {
  const { add, emit, remove } = createListeners();
  const calls: string[] = [];
  add(
    "connection",
    () => {
      calls.push("once");
      emit("connection", STATUS);
    },
    true,
  );
  const always = () => void calls.push("always");
  add("connection", always);
  emit("connection", STATUS);
  expect(calls.splice(0)).toEqual(["once", "always", "always"]);
  const never = () => void calls.push("never");
  add("connection", never, true);
  remove("connection", never);
  remove("error", always);
  emit("connection", STATUS);
  expect(calls.splice(0)).toEqual(["always"]);
  remove("connection", always);
  emit("connection", STATUS);
  expect(calls).toEqual([]);
});

test("a listener that throws or rejects does not stop later ones, and each error is reported once", async () => {
  const { add, emit } = createListeners();
  const [calls, errors]: [string[], StreamError[]] = [[], []];
  add("error", (error) => errors.push(error));
  add("connection", () => {
    throw new Error("at once");
  });
  add("connection", () => Promise.reject(new Error("later")));
  add("connection", () => calls.push("behind"));
  emit("connection", STATUS);
  expect(calls).toEqual(["behind"]);
  await turn();
  expect(errors.map(({ code, message }) => [code, message])).toEqual([
    ["listener", 'the listener of "connection" threw Error: at once: catch it there'],
    ["listener", 'the listener of "connection" threw Error: later: catch it there'],
  ]);
});
