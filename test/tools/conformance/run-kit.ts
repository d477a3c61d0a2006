import { parseArgs } from "node:util";
import { readTransport } from "./line.ts";
import { formatReport, reportOf } from "./report.ts";
import { loadNotTried, runSuite } from "./suite.ts";
import { Unreachable } from "./verdict.ts";

const USAGE = `usage: npm run conformance -- --url URL [--key KEY] [--transport websocket,sse,poll] [--rule RULE]
                             [--patience SECONDS] [--json]
`;
const EXIT = { passed: 0, failed: 1, usage: 2, unreachable: 75 } as const;

/** The output streams of the kit. */
interface Output {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** Runs the kit's command with these arguments. Resolves with the exit code. */
export async function runKit(args: readonly string[], { stdout, stderr }: Output): Promise<number> {
  let parsed: ReturnType<typeof readArguments>;
  try {
    parsed = readArguments(args);
  } catch (error) {
    stderr.write(`conformance: ${error instanceof Error ? error.message : error}\n${USAGE}`);
    return EXIT.usage;
  }
  const { json, ...options } = parsed;
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.once("SIGINT", interrupt);
  try {
    const results = await runSuite({ ...options, signal: stop.signal });
    const reasons = Object.entries(await loadNotTried()).filter(
      ([rule]) => !options.rules || options.rules.includes(rule),
    );
    const report = reportOf(options.url, results, Object.fromEntries(reasons));
    stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
    return report.failed === 0 ? EXIT.passed : EXIT.failed;
  } catch (error) {
    const message = unreachable(error);
    stderr.write(`conformance: ${message ?? (error instanceof Error ? error.message : error)}\n`);
    return message === undefined ? EXIT.usage : EXIT.unreachable;
  } finally {
    process.removeListener("SIGINT", interrupt);
  }
}

function readArguments(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: "string" },
      key: { type: "string" },
      transport: { type: "string" },
      rule: { type: "string", multiple: true },
      patience: { type: "string", default: "30" },
      json: { type: "boolean", default: false },
    },
  });
  const { url = "", key, transport, rule: rules, json } = values;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw new RangeError(`--url must be the http:// or https:// URL of a server, got "${url}"`);
  }
  const patienceMs = Number(values.patience) * 1_000;
  if (!(patienceMs >= 1_000 && patienceMs <= 3_600_000)) {
    throw new RangeError(`--patience must be from 1 to 3600 seconds, got "${values.patience}"`);
  }
  return {
    ...{ url: url.replace(/\/$/, ""), patienceMs, json, rules },
    ...(key === undefined ? {} : { key }),
    ...(transport === undefined ? {} : { transports: transport.split(",").map(readTransport) }),
  };
}

/** Returns the message for an error that means that the server cannot be reached. */
function unreachable(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof Unreachable) return `the server cannot be reached: ${cause.message}`;
  }
  return undefined;
}
