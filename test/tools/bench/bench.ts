/*
 * npm run bench -- [SUITE...] [--json]: prints measurements beside their targets. Without a suite,
 * or with `all`, runs everything. Suites and their options:
 *
 * - engine [--hours 24], history [--hours 24], retention [--hours 24], chain,
 *   exchange-trades [--seconds 20], live [--minutes 6], drain [--clients 2000],
 *   slow [--readers 200]
 * - fanout [--part uniform | bursts | market] [--short], compression [--short], rest [--rounds 7]
 * - resources [--rounds 5]
 * - admission [--rounds 5], memory [--short], lockout
 * - storm [--comers 10000] [--rounds 3] [--checkout DIRECTORY]
 * - dear [--seconds 20] [--attackers 1] [--only NAME], first-use [--rounds 3]
 * - pollers [--clients 10000], mixed [--rounds 5] [--checkout DIRECTORY] [--short]
 * - cluster [--clients 2000] [--sockets 50000] [--short], edges [--clients 2000]
 * - against --checkout DIRECTORY [--rounds 5]
 * - dashboard [--short], heap [--short], widget [--short]
 */

import { parseArgs } from "node:util";
import { benchAdmission } from "./admission/admission.ts";
import { benchAgainst } from "./against/against.ts";
import { benchChain } from "./chain.ts";
import { benchCluster } from "./cluster/cluster.ts";
import { benchCompression } from "./compression/compression.ts";
import { benchDear } from "./dear/dear.ts";
import { benchFirstUse } from "./dear/first-use.ts";
import { benchDrain } from "./drain.ts";
import { benchEdges } from "./edges/edges.ts";
import { benchEngine } from "./engine.ts";
import { benchExchangeTrades } from "./exchange-trades.ts";
import { benchFanout, FANOUT_PARTS, type FanoutPart } from "./fanout/fanout.ts";
import { benchHistory } from "./history.ts";
import { benchLive } from "./live.ts";
import { benchLockout } from "./lockout.ts";
import { benchMemory } from "./memory/memory.ts";
import { benchMixed } from "./mixed/mixed.ts";
import { benchDashboard } from "./pages/dashboard.ts";
import { benchHeap } from "./pages/heap.ts";
import { benchWidget } from "./pages/widget.ts";
import { benchPollers } from "./pollers.ts";
import { formatRows, type Row } from "./report.ts";
import { benchRequests } from "./requests.ts";
import { benchResources } from "./rest/resources.ts";
import { benchRest } from "./rest/rest.ts";
import { benchRetention } from "./retention.ts";
import { benchSlow } from "./slow.ts";
import { benchStorm } from "./storm/storm.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    part: { type: "string", multiple: true },
    hours: { type: "string", default: "24" },
    clients: { type: "string", default: "2000" },
    readers: { type: "string", default: "200" },
    checkout: { type: "string" },
    rounds: { type: "string" },
    comers: { type: "string", default: "10000" },
    sockets: { type: "string", default: "50000" },
    minutes: { type: "string", default: "6" },
    seconds: { type: "string", default: "20" },
    attackers: { type: "string", default: "1" },
    only: { type: "string" },
  },
});

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function readCount(
  name: "attackers" | "clients" | "readers" | "rounds" | "comers" | "minutes" | "seconds" | "sockets",
  otherwise?: number,
): number {
  const value = Number(values[name] ?? otherwise);
  return Number.isInteger(value) && value >= 1
    ? value
    : fail(`--${name} must be a whole number of at least 1, not ${values[name]}`);
}

function isPart(name: string): name is FanoutPart {
  return FANOUT_PARTS.some((part) => part === name);
}

// On exit, child processes are ended, if this process exits normally: see LineProcess.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const hours = Number(values.hours);
if (!(hours >= 0.01)) fail(`--hours must be a number of at least 0.01, not ${values.hours}`);
const clients = readCount("clients");
const readers = readCount("readers");
const parts = values.part?.map((name) =>
  isPart(name) ? name : fail(`unknown part ${name}; there are: ${FANOUT_PARTS.join(", ")}`),
);
const SUITES: Readonly<Record<string, () => Row[] | Promise<Row[]>>> = {
  engine: () => benchEngine(hours),
  history: () => benchHistory(hours),
  retention: () => benchRetention(hours),
  chain: () => benchChain(),
  "exchange-trades": () => benchExchangeTrades(readCount("seconds")),
  requests: () => benchRequests(),
  live: () => benchLive(readCount("minutes")),
  drain: () => benchDrain(clients),
  slow: () => benchSlow(readers),
  compression: () => benchCompression(values.short ? "short" : "full"),
  fanout: () => benchFanout(values.short ? "short" : "full", parts),
  rest: () => benchRest(readCount("rounds", 7)),
  resources: () => benchResources(readCount("rounds", 5)),
  admission: () => benchAdmission(readCount("rounds", 5)),
  memory: () => benchMemory(values.short ? "short" : "full"),
  storm: () =>
    benchStorm({
      comers: readCount("comers"),
      rounds: readCount("rounds", 3),
      checkout: values.checkout,
    }),
  cluster: () => benchCluster(clients, values.short ? 0 : readCount("sockets")),
  edges: () => benchEdges(clients),
  lockout: () => benchLockout(),
  pollers: () => benchPollers(positionals.includes("pollers") ? clients : 10_000),
  mixed: () =>
    benchMixed(
      values.short ? { rounds: 1, ms: 5_000 } : { rounds: readCount("rounds", 5), ms: 10_000 },
      values.checkout,
    ),
  dear: () =>
    benchDear({ seconds: readCount("seconds"), attackers: readCount("attackers"), only: values.only }),
  "first-use": () => benchFirstUse(readCount("rounds", 3)),
  ...(values.checkout === undefined
    ? {}
    : { against: () => benchAgainst(values.checkout ?? "", readCount("rounds", 5)) }),
  dashboard: () => benchDashboard(values.short ? "short" : "full"),
  heap: () => benchHeap(values.short ? "short" : "full"),
  widget: () => benchWidget(values.short ? "short" : "full"),
};
const unknown = positionals.filter((name) => name !== "all" && !Object.hasOwn(SUITES, name));
if (unknown.length > 0)
  fail(`unknown suite ${unknown.join(", ")}; there are: ${Object.keys(SUITES).join(", ")}, all`);
const all = positionals.length === 0 || positionals.includes("all");
for (const [name, run] of Object.entries(SUITES)) {
  if (!all && !positionals.includes(name)) continue;
  const rows = await run();
  process.stdout.write(
    values.json ? `${JSON.stringify({ suite: name, rows })}\n` : `${name}\n${formatRows(rows)}`,
  );
}
