import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build-pages.ts"],
    reporters: [["default", { summary: false }]],
    // Tells what hangs from what is slow: the slowest take 20 seconds, and several times that on a machine with other work.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Many tests start the program: what is compiled once serves all of them, which saves a quarter of their time.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compiled") },
    // As many as there are cores: with a third, tests that play a market fast were starved now and then.
    maxWorkers: 2,
  },
});
