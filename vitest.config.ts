import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Tests of the running system: they start programs or browsers, or play markets over sockets. */
const SYSTEM = [
  "test/{bench,browser,cli,conformance,evaluate,examples,package,scenarios}/**/*.test.ts",
  "test/client/{chaos,takeover}.test.ts",
  "test/feed/exchange/{exchange-feed,exchange-gateway,later-chosen}.test.ts",
  "test/repository/readme-examples.test.ts",
];

/** Tests that measure memory need a process of their own. */
const MEMORY = [
  "test/feed/chain/usd-book.test.ts",
  "test/feed/merge/merge-bounds.test.ts",
  "test/log/log-bytes.test.ts",
  "test/workers/worker-{side,wires}.test.ts",
];

const isolated = [...SYSTEM, ...MEMORY];

export default defineConfig({
  test: {
    globalSetup: ["test/support/build-pages.ts"],
    reporters: [["default", { summary: false }]],
    // As many as there are cores: with a third, tests that play a market fast were starved now and then.
    maxWorkers: 2,
    // Tells what hangs from what is slow: the slowest take 20 seconds, and several times that on a machine with other work.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Many tests start the program: what is compiled once serves all of them, which saves a quarter of their time.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compiled") },
    projects: [
      { extends: true, test: { name: "system", include: isolated } },
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: isolated,
          // One process runs many files, so that the sources are loaded once for all of them.
          isolate: false,
        },
      },
    ],
  },
});
