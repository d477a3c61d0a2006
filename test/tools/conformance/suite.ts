import { readdir, readFile } from "node:fs/promises";
import { type Case, CaseFile } from "./case-format.ts";
import { fetchResponse, type Target } from "./http.ts";
import { isObject } from "./json.ts";
import { TRANSPORTS, type TransportName } from "./line.ts";
import type { Context } from "./run.ts";
import { type Outcome, runCase } from "./run-case.ts";

const CASES = new URL("cases/", import.meta.url);

interface SuiteOptions extends Target {
  /** Cases that need another transport are not tried. Default: all. */
  readonly transports?: readonly TransportName[];
  /** Maximum concurrent cases, each with up to three connections. Default: 8. */
  readonly atOnce?: number;
  /** Maximum wait for events of the market in ms. Default: 30,000. */
  readonly patienceMs?: number;
  /** Runs only cases that prove one of these rules. */
  readonly rules?: readonly string[] | undefined;
  readonly signal?: AbortSignal;
}

/** The result of a case, including one that was not tried. */
export interface Result {
  /** The case's name, with the transport if it runs over several. */
  readonly name: string;
  readonly rules: readonly string[];
  readonly outcome: Outcome;
}

let loaded: Promise<readonly Case[]> | undefined;

/** Returns all cases, in the order of their files. Rejects if a file is invalid. */
export function loadCases(): Promise<readonly Case[]> {
  loaded ??= readCases();
  return loaded;
}

async function readCases(): Promise<readonly Case[]> {
  const names = (await readdir(CASES)).filter((name) => name.endsWith(".json")).toSorted();
  const files = await Promise.all(
    names.map(async (name) => [name, await readJson(`cases/${name}`)] as const),
  );
  return files.flatMap(([name, json]) => {
    const { data, error } = CaseFile.safeParse(json);
    if (data) return data.cases;
    throw new Error(`cases/${name}: ${error.message}`, { cause: error });
  });
}

/** Returns the rules that no case can prove from outside, each with the reason. */
export async function loadNotTried(): Promise<Readonly<Record<string, string>>> {
  const reasons = await readJson("not-tried.json");
  if (!isObject(reasons)) throw new Error("not-tried.json is not a JSON object");
  return Object.fromEntries(Object.entries(reasons).map(([rule, why]) => [rule, String(why)]));
}

/**
 * Runs the cases against a server, several at once. Rejects with Unreachable if the server cannot
 * be reached, at the start or later.
 */
export async function runSuite(options: SuiteOptions): Promise<readonly Result[]> {
  const { transports = TRANSPORTS, atOnce = 8, patienceMs = 30_000, rules: wanted } = options;
  const shapes = await readJson("shapes.json");
  if (!isObject(shapes)) throw new Error("shapes.json is not a JSON object");
  const finished = new AbortController();
  const signal = AbortSignal.any([finished.signal, ...(options.signal ? [options.signal] : [])]);
  await fetchResponse(options, { path: "/healthz" }, signal);
  const context: Context = { target: options, shapes, patienceMs, signal };
  const waiting = (await loadCases())
    .filter(({ rules }) => !wanted || rules.some((rule) => wanted.includes(rule)))
    .flatMap((one) => (one.for ?? [undefined]).map((transport) => ({ one, transport })))
    .map((item, at) => ({ ...item, at }));
  const results: { readonly at: number; readonly result: Result }[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { at, one, transport } = next;
      const name = transport === undefined ? one.name : `${one.name} (${transport})`;
      const missing = [...(one.needs ?? []), ...(transport ? [transport] : [])].find(
        (needed) => !transports.includes(needed),
      );
      const outcome: Outcome =
        missing === undefined
          ? await runCase(one, transport, context).catch((error: unknown) => {
              throw new Error(`case "${name}": ${error instanceof Error ? error.message : error}`, {
                cause: error,
              });
            })
          : { kind: "not-tried", why: `the transport ${missing} is excluded` };
      results.push({ at, result: { name, rules: one.rules, outcome } });
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    finished.abort();
  }
  return results.toSorted((a, b) => a.at - b.at).map(({ result }) => result);
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(path, import.meta.url), "utf8"));
}
