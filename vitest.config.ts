import { join, matchesGlob, relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

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

const ALL = ["test/**/*.test.ts"];
const RANKS = [MEMORY, SYSTEM, THOROUGH, ALL];
/** The part of the run in which the files of each rank begin. */
const ENDS = [0, 0.85, 0.9, 1];

// Workers and the programs that they start share compiled code: a quarter of a program's time.
process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, "node_modules/.cache/compiled");

/** Runs tests that wait beside tests that compute, and those of the last rank until the end. */
class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranks = Map.groupBy(await super.sort(files), ({ moduleId }) => {
      const file = relative(import.meta.dirname, moduleId);
      return RANKS.findIndex((patterns) => patterns.some((pattern) => matchesGlob(file, pattern)));
    });
    const placed = [...ranks].flatMap(([rank, ofRank]) =>
      ofRank.map((spec, index) => ({ spec, place: (index / ofRank.length) * (ENDS[rank] ?? 1) })),
    );
    return placed.toSorted((one, other) => one.place - other.place).map(({ spec }) => spec);
  }
}

/**
 * `npm test` runs all tests, `npm run test:unit` those of the last rank. One process runs many files,
 * and loads the sources once for all of them. System tests wait for over half of their time, so that
 * six processes keep two cores busy.
 */
export default defineConfig(({ mode }) => {
  const isUnit = mode === "unit";
  const setup = ["test/support/build-pages.ts"];
  return {
    test: {
      globalSetup: isUnit ? setup : [...setup, "test/support/bundle-program.ts"],
      reporters: [["default", { summary: false }]],
      // The slowest tests take 20 seconds, and several times that on a busy machine.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000 } },
      sequence: { sequencer: Mixed },
      projects: [
        { extends: true, test: { name: "memory", include: MEMORY, maxWorkers: 6, isolate: true } },
        {
          extends: true,
          test: {
            name: "tests",
            include: ALL,
            exclude: [...MEMORY, ...(isUnit ? [...SYSTEM, ...THOROUGH] : [])],
            maxWorkers: 6,
            isolate: false,
            // Room for short-lived objects: a tenth of the CPU time goes to collecting them otherwise.
            execArgv: ["--max-semi-space-size=64"],
            // Node imports the sources itself, and caches what it compiled: Vite's own loader takes longer.
            experimental: { viteModuleRunner: false, nodeLoader: false },
          },
        },
      ],
    },
  };
});
