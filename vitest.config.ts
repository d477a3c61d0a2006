import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Tests of the running system: they start programs or browsers, or play markets over sockets. */
const SYSTEM = [
  "test/{bench,browser,examples,mcp,package,scenarios}/**/*.test.ts",
  "test/cli/{backtest,doctor,npm-signals,output,record,replay,serve,tail,top}.test.ts",
  "test/cli/{doctor-cluster,tail-group,tail-waits}.test.ts",
  "test/conformance/!(cases).test.ts",
  "test/evaluate/!(injection|market-measures|outcomes).test.ts",
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
  "test/**/*.property.test.ts",
  "test/alerts/targets/mqtt.test.ts",
  "test/client/{readme,two-servers}.test.ts",
  "test/cluster/{lost-log,versions}.test.ts",
  "test/feed/chain/*-{bin,blocks,cl,events,feed,lookup}.test.ts",
  "test/feed/chain/{contracts,fact-store,following,leaving,listing}.test.ts",
  "test/feed/record/{record,retention}.test.ts",
  "test/feed/replay/{cut,skip}.test.ts",
  "test/feed/simulated/{labels,real-chains,simulated-market,statistics}.test.ts",
  "test/history/{candle-history,month-of-flares,past-market,recorded-record}.test.ts",
  "test/http/contracts/{asyncapi,docs}.test.ts",
  "test/http/websocket-{fuzz,limits,pressure}.test.ts",
  "test/metrics/metrics.test.ts",
  "test/protocol/{filter-law,passing-filter}.test.ts",
  "test/source/{events-law,upstream-doubt,upstream-law}.test.ts",
  "test/source/follow/mirror-law.test.ts",
  "test/trend/real-markets/*.test.ts",
  "test/trend/{candle-flare,control-moments,group-flares,memory,pro-secrecy,recorded-market}.test.ts",
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
