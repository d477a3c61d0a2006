import { availableParallelism } from "node:os";
import { join, matchesGlob, relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest system tests, which would otherwise still run when all others are done. */
const LONG = [
  "{scale/cluster/gateways,tools/conformance/conformance,package/pack,repository/{deletable,readme-examples}}.test.ts",
  "scenarios/{chain-trouble,chaos,churn,live,live-start}.test.ts",
  "{browser/no-data,extensions/docs/tutorials,app/cli/backtest/backtest,scale/cluster/sentinels,examples/follow-py}.test.ts",
  "clients/{sdk/takeover,python/model}.test.ts",
  "{scale/cluster/broken-keys,feeds/chain/slow-endpoint}.test.ts",
];

/** Tests of the running system: they start programs or browsers, or play markets over sockets. */
const SYSTEM = [
  "{tools/bench,browser,examples,extensions/mcp,package,scenarios}/**/*.test.ts",
  "app/cli/{doctor,doctor-cluster,npm-signals,record,replay,serve}.test.ts",
  "app/cli/{backtest/backtest,tail/{tail,tail-group,tail-waits},terminal/output,top/top}.test.ts",
  "tools/conformance/!(cases).test.ts",
  "tools/evaluate/!(injection|market-measures|outcomes).test.ts",
  "clients/sdk/{chaos,takeover}.test.ts",
  "clients/python/*.test.ts",
  "scale/cluster/{cluster-node,gateways,other-market,own-user,redis-engine,sentinels,shared-state,tls}.test.ts",
  "feeds/chain/{rpc/endpoints,probe/endpoint-probes}.test.ts",
  "feeds/exchange/{exchange-feed,exchange-gateway,later-chosen}.test.ts",
  "extensions/{history/{gateway-history,killed},docs/{tutorials,contracts/tools}}.test.ts",
  "{gateway/{http/stream/poll-cache,metrics/promtool},support/servers/end-with}.test.ts",
  "repository/{deletable,group-row,readme-examples}.test.ts",
];

/** Tests that measure memory, or replace a module of Node, need a process of their own. */
const MEMORY = [
  "app/server/tls.test.ts",
  "feeds/chain/pools/usd-prices.test.ts",
  "feeds/merge/merge-bounds.test.ts",
  "gateway/log/log-bytes.test.ts",
];

/** Tests of one part that take seconds: markets played fast, laws tried on random cases. */
const THOROUGH = [
  "**/*.property.test.ts",
  "extensions/alerts/targets/mqtt.test.ts",
  "clients/sdk/{readme,two-servers}.test.ts",
  "scale/cluster/{broken-keys,lost-log,versions}.test.ts",
  "feeds/chain/**/*-{bin,blocks,book,cl,events,feed,lookup}.test.ts",
  "feeds/chain/{following,leaving,listing,slow-endpoint,rpc/{contract-reader,fact-store}}.test.ts",
  "feeds/record/{record,retention}.test.ts",
  "feeds/replay/{cut,skip}.test.ts",
  "feeds/simulated/{exchange-trades,labels,lp-locks,real-chains,resumed-market,simulated-market,statistics}.test.ts",
  "extensions/history/{candle-history,month-of-flares,past-market,recorded-record}.test.ts",
  "extensions/docs/{samples,contracts/{asyncapi,docs,servers}}.test.ts",
  "extensions/permalinks/*.test.ts",
  "gateway/http/{examples,stream/websocket-{fuzz,limits,pressure}}.test.ts",
  "gateway/metrics/metrics.test.ts",
  "base/protocol/{filter-law,passing-filter}.test.ts",
  "{gateway/source/events-law,feeds/upstream/{upstream-doubt,upstream-law}}.test.ts",
  "scale/follow/mirror-law.test.ts",
  "engine/real-markets/*.test.ts",
  "engine/{detect/measures/candle-flare,memory,recorded-market,state/earlier-checkpoint}.test.ts",
  "engine/views/{control-moments,group-flares,pro-secrecy}.test.ts",
];

const ALL = ["**/*.test.ts"];
const RANKS = [MEMORY, LONG, SYSTEM, THOROUGH, ALL];
/** The part of the run in which the files of each rank begin. */
const ENDS = [0, 0.4, 0.7, 0.75, 1];

/** Unit tests wait little, and each process loads and compiles the sources again. */
const UNIT_WORKERS = Math.max(4, availableParallelism() - 1);

const COMPILED = join(import.meta.dirname, "../node_modules/.cache/compiled");

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
 * `npm test` runs all tests, `npm run test:unit` those of the last rank. One process runs many
 * files, and loads the sources once for all of them. System tests wait for over half of their time,
 * so that seven processes keep two cores busy.
 */
export default defineConfig(({ mode }) => {
  const isUnit = mode === "unit";
  // Workers and the programs that they start share compiled code: a quarter of a program's time.
  // Unit tests start no programs, and storing the code takes ten seconds of CPU time at first.
  if (!isUnit) process.env.NODE_COMPILE_CACHE = COMPILED;
  const setup = ["support/setup/temporary-files.ts", "support/setup/build-pages.ts"];
  return {
    test: {
      globalSetup: isUnit ? setup : [...setup, "support/setup/bundle-program.ts"],
      reporters: [["default", { summary: false }]],
      // The slowest tests take 20 seconds, and twenty times that on a busy machine.
      testTimeout: 600_000,
      hookTimeout: 600_000,
      expect: { poll: { timeout: 280_000 } },
      sequence: { sequencer: Mixed },
      projects: [
        { extends: true, test: { name: "memory", include: MEMORY, maxWorkers: 7, isolate: true } },
        {
          extends: true,
          test: {
            name: "tests",
            include: ALL,
            exclude: [...MEMORY, ...(isUnit ? [...SYSTEM, ...THOROUGH] : [])],
            maxWorkers: isUnit ? UNIT_WORKERS : 7,
            isolate: false,
            // Room for short-lived objects: otherwise a tenth of the CPU time collects them.
            execArgv: ["--max-semi-space-size=64", "--min-semi-space-size=64"],
            // Node imports the sources and caches compiled code. Vite's own loader takes longer.
            experimental: { viteModuleRunner: false, nodeLoader: false },
          },
        },
      ],
    },
  };
});
