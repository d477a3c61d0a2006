import { expect, test } from "vitest";
import { ownCommand } from "../../../src/base/lib/own-command.ts";

test("an installed package is run as flarewire, and a clone as npm run flarewire", () => {
  expect(ownCommand("doctor", "file:///srv/node_modules/flarewire/dist/lib/own-command.js")).toBe(
    "flarewire doctor",
  );
  expect(ownCommand("doctor", "file:///home/me/flarewire/src/lib/own-command.ts")).toBe(
    "npm run flarewire -- doctor",
  );
  expect(ownCommand("doctor")).toBe("npm run flarewire -- doctor");
});
