import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build-pages.ts"],
    reporters: [["default", { summary: false }]],
    // Tells what hangs from what is slow: the slowest take 20 seconds, and several times that on a machine with other work.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
