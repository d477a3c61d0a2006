import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  createConfig,
  loadConfig,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
} from "../../../src/app/config/config.ts";
import { variableOf } from "../../../src/app/config/flags.ts";
import { FEEDS } from "../../../src/app/feeds.ts";
import { flagOf, type Setting } from "../../../src/base/settings/index.ts";

/** An invalid value for each setting, as text and as JSON. The type requires all settings. */
const BAD: Readonly<Record<SettingName, { readonly text: string; readonly json: unknown }>> = {
  host: { text: "two words", json: 7 },
  port: { text: "65536", json: 80.5 },
  basePath: { text: "/a/", json: false },
  source: { text: "ftp://example.org", json: ["engine"] },
  feed: { text: "crystal-ball", json: null },
  chain: { text: "sui", json: 56 },
  rpc: { text: "ftp://example.org", json: "bsc.example.org" },
  file: { text: "no-such-file.csv", json: {} },
  aggregatorGroups: { text: "bsc,sui", json: [] },
  live: { text: "bsc,sui", json: [] },
  bscRpc: { text: "ftp://example.org", json: "bsc.example.org" },
  polygonRpc: { text: "polygon.example", json: 137 },
  avalancheRpc: { text: "avalanche.example.org", json: {} },
  baseRpc: { text: "base.example.org", json: false },
  exchanges: { text: "binance,mtgox", json: [] },
  exchangeQuotes: { text: "usdt", json: "USDT;USDC" },
  exchangeVolume: { text: "1e6", json: -1 },
  binanceUrl: { text: "data-api.binance.vision", json: 7 },
  binanceStreamUrl: { text: "https://stream.binance.com", json: 443 },
  kucoinUrl: { text: "wss://api.kucoin.com", json: null },
  gateUrl: { text: "api.gateio.ws", json: [] },
  gateStreamUrl: { text: "ws:", json: {} },
  enrich: { text: "coingecko,oracle", json: "some" },
  geckoterminalUrl: { text: "geckoterminal", json: {} },
  coingeckoUrl: { text: "api.coingecko.com", json: 7 },
  sourcifyUrl: { text: "wss://sourcify.dev", json: null },
  etherscanUrl: { text: "etherscan", json: [] },
  dexscreenerUrl: { text: "ftp://dexscreener.com", json: {} },
  record: { text: "no\0path", json: 7 },
  recordBytes: { text: "15MiB", json: 1_073_741_824 },
  profiles: { text: "no-such-profiles.json", json: 1 },
  group: { text: "doge", json: true },
  seed: { text: "-1", json: 0.5 },
  speed: { text: "0", json: -1 },
  loop: { text: "maybe", json: "yes" },
  warmup: { text: "8 hours", json: 28_800_000 },
  refresh: { text: "5", json: 5_000 },
  pollInterval: { text: "99ms", json: "2h" },
  upstreamTimeout: { text: "-1s", json: "6m" },
  staleAfter: { text: "999ms", json: "25h" },
  heartbeat: { text: "61s", json: "0" },
  data: { text: "no\0path", json: 7 },
  logAge: { text: "1e3s", json: "31d" },
  logCount: { text: "0", json: 1.5 },
  logFlareAge: { text: "-1s", json: true },
  logBytes: { text: "64MB", json: 67_108_864 },
  historyAge: { text: "1m", json: 30 },
  historyBytes: { text: "1KiB", json: 67_108_864 },
  recordFee: { text: "0.3%", json: 51 },
  recordExchangeFee: { text: "-1", json: true },
  recordStake: { text: "$100", json: [100] },
  maxSockets: { text: "many", json: 0 },
  anonymousRequests: { text: "0", json: "many" },
  anonymousStreams: { text: "-1", json: 0 },
  maxSocketsPerIp: { text: "0x10", json: 1_000_001 },
  keys: { text: "no-such-keys.json", json: [] },
  jwtKey: { text: "no-such-key.pem", json: {} },
  jwksUrl: { text: "http://login.example.org/jwks.json", json: 7 },
  jwtIssuer: { text: "two words", json: [] },
  jwtAudience: { text: "two words", json: {} },
  tlsCert: { text: "no-such.crt", json: 7 },
  tlsKey: { text: "no-such.key", json: [] },
  anonymous: { text: "pro", json: false },
  allowedHosts: { text: "example.org:8080", json: ["https://example.org"] },
  publicUrl: { text: "flares.example.org", json: 7 },
  corsOrigins: { text: "example.org", json: ["https://example.org/path"] },
  allowedOrigins: { text: "https://", json: [1] },
  trustProxy: { text: "0.0.0.0/0", json: true },
  compression: { text: "gzip", json: "deflate" },
  metrics: { text: "sometimes", json: "on" },
  metricsPort: { text: "65536", json: "off" },
  metricsHost: { text: "two names", json: 9464 },
  cluster: { text: "redis://one,two", json: 6379 },
  clusterName: { text: "Two Words", json: [] },
  clusterUser: { text: "two words", json: [] },
  drain: { text: "11m", json: -1 },
  logLevel: { text: "loud", json: 30 },
  alerts: { text: "no-such-alerts.json", json: false },
  push: { text: "ops@example.org", json: true },
  config: { text: "no-such-config.json", json: "other.json" },
};

const directory = mkdtempSync(join(tmpdir(), "flarewire-config-"));
let fileCount = 0;
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function configFile(content: unknown): string {
  fileCount += 1;
  const path = join(directory, `${fileCount}.json`);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

function failureOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toMatchObject({ name: "FlarewireError", code: "invalid-setting" });
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("the configuration was accepted");
}

const load = (args: readonly string[], environment: Record<string, string> = {}) =>
  loadConfig({ args, environment, directory }).config;

describe("sources of settings", () => {
  test("a flag wins over a variable, a variable over the file, the file over the default", () => {
    const path = configFile({ port: 3, host: "file.example", logCount: 7 });
    const environment = { FLAREWIRE_PORT: "2", FLAREWIRE_HOST: "variable.example" };
    const config = load(["--config", path, "--port", "1"], environment);
    expect(config).toMatchObject({ port: 1, host: "variable.example", logCount: 7, heartbeatMs: 15_000 });
  });

  test("a variable can name the file, and no file is read unless it is named", () => {
    const path = configFile({ port: 3 });
    expect(load([], { FLAREWIRE_CONFIG: path }).port).toBe(3);
    writeFileSync(join(directory, "flarewire.config.json"), JSON.stringify({ port: 4 }));
    expect(load([]).port).toBe(8_080);
  });

  test("an empty variable counts as not set", () => {
    expect(load([], { FLAREWIRE_PORT: "" }).port).toBe(8_080);
  });

  test("a path is relative to the working directory, or to the directory of the file that sets it", () => {
    writeFileSync(join(directory, "day.csv"), "");
    const path = configFile({ file: "day.csv" });
    expect(load(["--file", "day.csv"]).file).toBe(join(directory, "day.csv"));
    expect(loadConfig({ args: ["--config", path], directory: "/" }).config.file).toBe(
      join(directory, "day.csv"),
    );
  });

  test("the variables that Kubernetes sets for a service named flarewire are ignored", () => {
    const links = {
      FLAREWIRE_SERVICE_HOST: "10.0.0.1",
      FLAREWIRE_SERVICE_PORT: "80",
      FLAREWIRE_PORT: "tcp://10.0.0.1:80",
      FLAREWIRE_PORT_80_TCP_ADDR: "10.0.0.1",
    };
    expect(load([], links).port).toBe(8_080);
  });
});

describe("values of settings", () => {
  test("durations become milliseconds, sizes bytes, lists arrays, and speed max Infinity", () => {
    const config = load(
      "--refresh 1.5s --warmup 8h --drain 500ms --log-bytes 1.5MiB --speed max --cors-origins https://a.example,https://b.example --trust-proxy loopback,10.0.0.0/8".split(
        " ",
      ),
    );
    expect(config).toMatchObject({
      refreshMs: 1_500,
      warmupMs: 28_800_000,
      drainMs: 500,
      logBytes: 1_572_864,
      speed: Number.POSITIVE_INFINITY,
      corsOrigins: ["https://a.example", "https://b.example"],
      trustProxy: ["loopback", "10.0.0.0/8"],
    });
  });

  test("a file may contain JSON numbers, booleans and lists", () => {
    const path = configFile({
      port: 1,
      feed: "replay",
      speed: 2.5,
      loop: false,
      corsOrigins: [],
      allowedOrigins: ["*"],
      warmup: 0,
    });
    const read = { port: 1, speed: 2.5, loop: false, corsOrigins: [], warmupMs: 0 };
    expect(load(["--config", path])).toMatchObject(read);
  });

  test("the default is the simulated market in real time; file or feed = replay selects a recording", () => {
    writeFileSync(join(directory, "own.csv"), "");
    expect(load([])).toMatchObject({ feed: "simulated", speed: 1, loop: false, warmupMs: 9_000_000 });
    expect(load(["--file", "own.csv"])).toMatchObject({ feed: "replay", speed: 60 });
    expect(load(["--feed", "replay"]).file).toContain("2017-11-12");
  });

  test("the shipped recording loops and has a warmup by default; another recording does not", () => {
    writeFileSync(join(directory, "own.csv"), "");
    expect(load(["--feed", "replay"])).toMatchObject({
      loop: true,
      warmupMs: 28_800_000,
      profiles: expect.stringContaining("profiles"),
    });
    expect(load(["--file", "own.csv"])).toMatchObject({ loop: false, warmupMs: 0, profiles: undefined });
    expect(load(["--file", "own.csv", "--loop", "--warmup", "1h"])).toMatchObject({
      loop: true,
      warmupMs: 3_600_000,
    });
    expect(load(["--feed", "replay", "--no-loop"]).loop).toBe(false);
  });

  test("trailing slashes of addresses are removed", () => {
    expect(load(["--source", "https://example.org/api/", "--base-path", "/"])).toMatchObject({
      source: "https://example.org/api",
      basePath: "",
    });
  });

  test("the Config is deeply frozen", () => {
    const config = load([]);
    expect(Object.isFrozen(config) && Object.isFrozen(config.corsOrigins)).toBe(true);
  });

  test("a program passes settings by name, as in a file", () => {
    expect(createConfig({ port: 0, heartbeat: "1s" })).toMatchObject({ port: 0, heartbeatMs: 1_000 });
    expect(failureOf(() => createConfig({ port: -1 }))).toContain("port = -1 (setting port)");
  });
});

describe.each(SETTING_NAMES)("an invalid value of %s", (name) => {
  const { bound, example }: Setting = SETTINGS[name];
  const rest = ` must be ${bound}, for example ${example}`;

  test("is reported when it comes from the flag", () => {
    const message = failureOf(() => load([`--${flagOf(name)}=${BAD[name].text}`]));
    expect(message).toContain(`${name} = ${JSON.stringify(BAD[name].text)} (flag --${flagOf(name)})${rest}`);
  });

  test("is reported when it comes from the environment", () => {
    const message = failureOf(() => load([], { [variableOf(name)]: BAD[name].text }));
    expect(message).toContain(
      `${name} = ${JSON.stringify(BAD[name].text)} (environment ${variableOf(name)})${rest}`,
    );
  });

  test("is reported when it comes from the file", () => {
    const path = configFile({ [name]: BAD[name].json });
    const message = failureOf(() => load(["--config", path]));
    if (name === "config") expect(message).toContain("config cannot be set in a file");
    else expect(message).toContain(`${name} = ${JSON.stringify(BAD[name].json)} (${name} in ${path})${rest}`);
  });

  test("is never the example or a default", () => {
    const { schema, default: preset, path }: Setting = SETTINGS[name];
    const ofMarkets = FEEDS.flatMap(({ market }) =>
      [true, false].map((isGiven) => market?.defaults(() => isGiven)[name]),
    );
    const texts = [example, preset, ...ofMarkets];
    for (const text of path ? [] : texts) {
      if (text !== undefined) expect(schema.safeParse(text).success, text).toBe(true);
    }
  });
});

describe("mistakes", () => {
  test("are reported together, with the nearest name for an unknown one", () => {
    const path = configFile({ prot: 1, speed: "fast" });
    const message = failureOf(() =>
      load(["--config", path, "--hartbeat", "3s", "--port", "x"], { FLAREWIRE_LOGCOUNT: "3" }),
    );
    expect(message.split("\n")).toEqual([
      "5 settings are invalid",
      "  unknown flag --hartbeat (did you mean --heartbeat?)",
      "  unknown environment variable FLAREWIRE_LOGCOUNT (did you mean FLAREWIRE_LOG_COUNT?)",
      '  unknown setting "prot" (did you mean port?)',
      '  port = "x" (flag --port) must be a whole number from 0 to 65535, for example 9000',
      expect.stringContaining('  speed = "fast" (speed in '),
    ]);
  });

  test.each([
    [["--feed", "simulatd"], '"simulatd" (flag --feed) (did you mean simulated?) must be one of'],
    [["--group", "avalance"], '"avalance" (flag --group) (did you mean avalanche?) must be one of'],
    [
      ["--enrich", "etherscan,coingeco"],
      "(flag --enrich) (did you mean coingecko?) must be none, or some of",
    ],
    [["--anonymous", "everybody"], '"everybody" (flag --anonymous) must be one of'],
    [["--port"], "--port needs a value"],
    [["--port", "--host", "x"], "--port needs a value"],
    [["--no-port"], "unknown flag --no-port"],
    [["--follow", "http://127.0.0.1:1"], "unknown flag --follow (did you mean --source follow:URL?)"],
    [["--upstream=http://127.0.0.1:1"], "unknown flag --upstream (did you mean --source URL?)"],
    [["--replay", "file.csv"], "unknown flag --replay (did you mean --feed replay?)"],
    [["--no-loop=true"], "--no-loop takes no value"],
    [["--port="], "--port needs a value"],
    [["--port", ""], "--port needs a value"],
    [["--port=1", "--port", "2"], "--port is given twice"],
    [["--loop", "--no-loop"], "--loop is given twice"],
    [["--port", "08"], 'port = "08" (flag --port) must be'],
    [["--seed", "007"], 'seed = "007" (flag --seed) must be'],
    [["--speed", "06.5"], 'speed = "06.5" (flag --speed) must be'],
    [["--base-path", "/a/.b"], "letters, digits and . _ ~ - (no leading dot)"],
    [["--base-path", `/${"a".repeat(200)}`], ", at most 200 characters"],
    [["-x"], "unknown flag -x"],
    [["elsewhere"], 'unexpected argument "elsewhere"'],
  ])("%j is rejected", (args, expected) => {
    expect(failureOf(() => load(args))).toContain(expected);
  });

  test("a file that is not a JSON object is reported with the reason", () => {
    expect(failureOf(() => load(["--config", configFile("{ port: 1 }")]))).toMatch(
      /config = "[^"]+" \(flag --config\) cannot be read as JSON: /,
    );
    expect(failureOf(() => load(["--config", configFile([])]))).toContain("must contain a JSON object");
  });

  test("settings that contradict each other are rejected", () => {
    const message = failureOf(() => load(["--source", "http://x.example", "--poll-interval", "1m"]));
    expect(message).toContain("staleAfter must be longer than pollInterval = 1m, got 15s");
  });

  test.each([
    [["--source", "http://x.example", "--group", "bsc"], "group (flag --group) has no effect with source"],
    [["--source", "http://x.example", "--feed", "replay"], "feed (flag --feed) has no effect with source"],
    [["--source", "http://x.example", "--no-loop"], "loop (flag --loop) has no effect with source"],
    [["--source", "http://x.example", "--speed", "2"], "speed (flag --speed) has no effect with source"],
    [["--source", "http://x.example", "--seed", "2"], "seed (flag --seed) has no effect with source"],
    [["--source", "http://x.example", "--warmup", "1h"], "warmup (flag --warmup) has no effect with source"],
    [["--group", "bsc"], "group (flag --group) has no effect on the simulated market"],
    [["--metrics-host", "::1"], "metricsHost (flag --metrics-host) has no effect without metricsPort"],
    [
      ["--no-metrics", "--metrics-port", "9464"],
      "metricsPort (flag --metrics-port) has no effect with metrics",
    ],
    [["--feed", "simulated", "--file", "own.csv"], "file (flag --file) has no effect on the simulated"],
    [["--loop"], "loop (flag --loop) has no effect on the simulated market"],
    [["--feed", "replay", "--seed", "2"], "seed (flag --seed) has no effect on a recorded market"],
    [["--anonymous", "off"], "anonymous (flag --anonymous) has no effect without keys"],
    [["--profiles", "own.csv"], "profiles (flag --profiles) has no effect on the simulated market"],
  ])("%j is rejected, because a setting would have no effect", (args, expected) => {
    writeFileSync(join(directory, "own.csv"), "");
    expect(failureOf(() => load(args))).toContain(expected);
  });

  test("a setting without effect is also rejected from a file or a program, but not from the environment", () => {
    const path = configFile({ source: "http://x.example", group: "bsc", speed: 2 });
    expect(failureOf(() => load(["--config", path])).split("\n")).toEqual([
      "2 settings are invalid",
      expect.stringContaining("  speed (speed in "),
      expect.stringContaining(`  group (group in ${path}) has no effect with source = http://x.example: `),
    ]);
    expect(failureOf(() => createConfig({ group: "bsc" }))).toContain("group (setting group) has no effect");
    expect(load(["--source", "http://x.example"], { FLAREWIRE_SPEED: "2" }).speed).toBe(2);
  });

  test("a command without the setting feed plays its recording, whatever source or feed is set elsewhere", () => {
    const recording = join(directory, "own.csv");
    writeFileSync(recording, "");
    const path = configFile({ source: "http://x.example", group: "bsc" });
    const { config } = loadConfig({
      args: [recording, "--config", path],
      environment: { FLAREWIRE_FEED: "simulated" },
      settings: ["group", "config"],
      positionals: ["file"],
    });
    expect(config).toMatchObject({ file: recording, group: "bsc" });
  });

  test("a pipe is rejected as an irregular file, without being opened", () => {
    const pipe = join(directory, "pipe.csv");
    execFileSync("mkfifo", [pipe]);
    for (const name of ["file", "profiles", "config"]) {
      expect(failureOf(() => load([`--${name}`, pipe]))).toContain(
        `${name} = ${JSON.stringify(pipe)} (flag --${name}) is not a regular file; write the output of a pipe`,
      );
    }
    expect(failureOf(() => load(["--file", directory]))).toContain("the path of a readable file");
  });
});

test("workers are refused with what to run instead: as a flag, a variable, a key of the file and a program's setting", () => {
  const gone = (name: string) =>
    `${name} is gone: run edges (--source follow:URL) behind nginx or Caddy instead; see src/scale/SCALING.md`;
  expect(failureOf(() => load(["--workers", "1"]))).toBe(`a setting is invalid\n  ${gone("--workers")}`);
  expect(failureOf(() => load(["--workers=auto"]))).toContain(gone("--workers"));
  expect(failureOf(() => load([], { FLAREWIRE_WORKERS: "1" }))).toContain(gone("FLAREWIRE_WORKERS"));
  const settings: object = { workers: 1 };
  const path = configFile(settings);
  expect(failureOf(() => load(["--config", path]))).toContain(gone("workers"));
  expect(failureOf(() => createConfig(settings))).toContain(gone("workers"));
});
