import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import type { Row } from "../report.ts";

/**
 * Shorter tasks are ignored: there are thousands, which would hide the long ones in every
 * percentile.
 */
const MIN_MS = 1;
const MARK = "flarewire-bench";

/** Activity of a page's main thread during a period. */
interface MainThread {
  /** Durations of its tasks of at least a millisecond, ascending, in milliseconds of wall time. */
  readonly tasksMs: readonly number[];
  /** The CPU time of its tasks of at least a millisecond of it, ascending, in milliseconds. */
  readonly cpuMs: readonly number[];
  /** Share of the period in which it ran any task, from 0 to 1. */
  readonly busy: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds; for complete events (`X`) only. */
  readonly dur?: number;
  /** CPU time of the thread, which other processes do not lengthen. */
  readonly tdur?: number;
}

/**
 * Traces the page for this time. Returns its main thread's tasks, which include script, layout and
 * painting. (The page's own long-task entries begin at 50 ms.)
 */
export async function traceMainThread(browser: Browser, page: Page, forMs: number): Promise<MainThread> {
  await browser.startTracing(page, { categories: ["toplevel", "blink.user_timing"] });
  await page.evaluate(`performance.mark("${MARK}")`);
  await sleep(forMs);
  const trace = await browser.stopTracing();
  const { traceEvents }: { traceEvents: readonly TraceEvent[] } = JSON.parse(trace.toString("utf8"));
  const own = traceEvents.find(({ name }) => name === MARK);
  if (!own) throw new Error("the trace does not hold the page's mark");
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) =>
      name === "ThreadControllerImpl::RunTask" && ph === "X" && pid === own.pid && tid === own.tid,
  );
  if (tasks.length === 0) throw new Error("the trace holds no task of the page's main thread");
  const ms = tasks.map(({ dur = 0 }) => dur / 1_000);
  const longOnes = (all: readonly number[]) => all.filter((task) => task >= MIN_MS).toSorted((a, b) => a - b);
  return {
    tasksMs: longOnes(ms),
    cpuMs: longOnes(tasks.map(({ tdur = 0 }) => tdur / 1_000)),
    busy: ms.reduce((sum, task) => sum + task, 0) / forMs,
  };
}

/** Returns the rows for the thread; `aimed` if the aim applies. */
export function mainThreadRows(what: string, { tasksMs, cpuMs, busy }: MainThread, aimed: boolean): Row[] {
  const p95Of = (all: readonly number[]) => all[Math.floor(all.length * 0.95)] ?? 0;
  const reported = "reported, without a bound";
  return [
    {
      what: `${what}: tasks of at least 1 ms, p95`,
      value: p95Of(tasksMs),
      unit: "ms",
      aim: aimed ? "≤ 16" : reported,
    },
    {
      what: `${what}: of their CPU time, p95`,
      value: p95Of(cpuMs),
      unit: "ms",
      aim: aimed ? "≤ 16" : reported,
    },
    { what: `${what}: the longest`, value: tasksMs.at(-1) ?? 0, unit: "ms", aim: reported },
    { what: `${what}: such tasks`, value: tasksMs.length, unit: "", aim: reported },
    { what: `${what}: main thread busy`, value: 100 * busy, unit: "%", aim: reported },
  ];
}
