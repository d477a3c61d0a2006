import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Tests of the running system: they start programs or browsers, or play markets over sockets. */
const SYSTEM = [
  "test/{bench,browser,cli,conformance,evaluate,examples,mcp,package,scenarios}/**/*.test.ts",
  "test/client/{chaos,takeover}.test.ts",
  "test/client/python/*.test.ts",
  "test/cluster/{cluster-node,gateways,redis-engine,sentinels,shared-state,tls}.test.ts",
  "test/feed/chain/endpoints.test.ts",
  "test/feed/exchange/{exchange-feed,exchange-gateway,later-chosen}.test.ts",
  "test/history/{gateway-history,killed}.test.ts",
  "test/repository/readme-examples.test.ts",
];

/** Tests that measure memory, or replace a module of Node, need a process of their own. */
const MEMORY = [
  "test/gateway/tls.test.ts",
  "test/feed/chain/usd-book.test.ts",
  "test/feed/merge/merge-bounds.test.ts",
  "test/log/log-bytes.test.ts",
  "test/workers/primary-link.test.ts",
];

/** Tests of one part that take seconds: markets played fast, laws tried on random cases. */
const THOROUGH = [
  "test/feed/{chain,exchange,simulated}/**/*.test.ts",
  "test/client/readme.test.ts",
  "test/feed/replay/cut.test.ts",
  "test/history/history-writer.property.test.ts",
  "test/http/websocket-pressure.test.ts",
  "test/protocol/filter-law.test.ts",
  "test/source/{events,upstream}-law.test.ts",
  "test/trend/{engine-laws.property,recorded-market}.test.ts",
];

/**
 * System tests wait for over half of their time, so that six at a time keep two cores busy. One
 * process runs many files, and loads the sources once for all of them.
 *
 * The projects run in the order of their names: a worker that finds no more system test begins with
 * the others, so that no core waits for the last one.
 */
const shared = {
  maxWorkers: 6,
  isolate: false,
  // Room for short-lived objects: a tenth of the CPU time goes to collecting them otherwise.
  execArgv: ["--max-semi-space-size=64"],
  // Node imports the sources itself, and caches what it compiled: Vite's own loader takes longer.
  experimental: { viteModuleRunner: false, nodeLoader: false },
};

// Workers and the programs that they start share compiled code: a quarter of a program's time.
process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, "node_modules/.cache/compiled");

export default defineConfig({
  test: {
    globalSetup: ["test/support/build-pages.ts"],
    reporters: [["default", { summary: false }]],
    // The slowest tests take 20 seconds, and several times that on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "system",
          include: SYSTEM,
          globalSetup: ["test/support/bundle-program.ts"],
          ...shared,
        },
      },
      { extends: true, test: { name: "memory", include: MEMORY, maxWorkers: 6, isolate: true } },
      {
        extends: true,
        test: { name: "thorough", include: THOROUGH, exclude: [...SYSTEM, ...MEMORY], ...shared },
      },
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [...SYSTEM, ...MEMORY, ...THOROUGH],
          ...shared,
        },
      },
    ],
  },
});
