import { actionAfter, CLOSE_CODES } from "../../../base/protocol/index.ts";
import type { ConnectionStatus, Stream } from "../../../clients/sdk/index.ts";
import { fillingText } from "../../../clients/text/index.ts";
import { exitCodeOf } from "../exit-code.ts";
import { EXIT, type ExitCode } from "../shutdown.ts";

interface ReportOptions {
  readonly host: string;
  /** The stream starts after a given cursor. */
  readonly resumes: boolean;
  readonly notice: (message: string) => void;
  /** Called if the first connection gets no response, or a refusal that will not change. */
  readonly giveUp: (exitCode: ExitCode) => void;
}

/** Reports when a stream starts, loses its connection, resumes and misses events. */
export function reportConnection(stream: Stream, { host, resumes, notice, giveUp }: ReportOptions): void {
  let isInterrupted = resumes;
  let wasLive = false;
  let before: ConnectionStatus["state"] = "connecting";
  let lastNotice = "";
  stream.on("reset", ({ reason, lost, cursor }) => {
    isInterrupted = false;
    const count = lost === null ? "an unknown number of" : String(lost);
    if (reason === "started") notice(`following ${host}${market(stream)}, from ${cursor}`);
    else notice(`${count} events were missed (${MISSED_TEXTS[reason] ?? reason}): continuing from ${cursor}`);
  });
  stream.on("connection", (status) => {
    const { state, reason, code } = status;
    const isRetry = state === "connecting" && before === "waiting";
    before = state;
    if (state === "live") {
      if (isInterrupted) notice(`resumed at ${stream.cursor}: nothing was missed`);
      isInterrupted = false;
      wasLive = true;
      lastNotice = "";
      reportData(stream, notice);
    } else if (state === "waiting" || (state === "connecting" && reason !== "" && !isRetry)) {
      const isReached = wasLive || stream.server !== undefined;
      const isFinal = !isReached && (code === undefined || actionAfter(code) === "stop");
      if (isFinal && state === "waiting") {
        notice(describeFailure(status));
        giveUp(exitCodeAfter(status));
      } else if (!isFinal) {
        isInterrupted ||= wasLive;
        const words = `${describeEnd(status)}; ${state === "waiting" ? "retrying" : "reconnecting"}`;
        // While a server has no data, each attempt ends the same way.
        if (words !== lastNotice) notice(words);
        lastNotice = words;
      }
    }
  });
}

const MISSED_TEXTS: Readonly<Record<string, string>> = {
  "epoch-changed": "epoch-changed: the cursor is from another server, or the server's log was reset",
  expired: "expired: the server no longer stores them",
};

/** OpenSSL's message about a response that is not TLS. */
const NOT_TLS = /SSL routines:.*wrong version number/;

/** Describes why a first connection failed, and what to check. */
export function describeFailure(status: Pick<ConnectionStatus, "reason" | "code">): string {
  const { code } = status;
  if (code === undefined) return `${describeEnd(status)}; check that a Flarewire server runs there`;
  return `${describeEnd(status)}${code === 404 ? "; check that the URL is a Flarewire server's" : ""}`;
}

/**
 * Describes how a connection ended: `closed: 4200 draining: the server is shutting down`. A server
 * that has no data yet or no capacity says why.
 */
export function describeEnd({ reason, code = 0 }: Pick<ConnectionStatus, "reason" | "code">): string {
  const [, detail] = /^HTTP 503 (.+)/.exec(reason) ?? [];
  if (detail !== undefined) return `waiting for the server: ${detail}`;
  const known = Object.entries(CLOSE_CODES).find(([, entry]) => entry.code === code);
  if (known) return `closed: ${code} ${known[0]}: ${known[1].meaning}`;
  if (code >= 100 && code < 600) return `refused: ${reason}`;
  return NOT_TLS.test(reason)
    ? "no answer: that port serves plain HTTP; use http:// instead of https://"
    : reason.replace(/^(no answer: )\w*Error: /, "$1");
}

function market({ server }: Stream): string {
  if (!server) return "";
  const { origin, name } = server.source;
  const names = name === origin ? server.server : `${name}, ${server.server}`;
  return `, a ${origin} market (${names})`;
}

function reportData({ freshness }: Stream, notice: (message: string) => void): void {
  const filling = freshness ? fillingText(freshness) : "";
  if (filling !== "") notice(`reading the past: ${filling}`);
  if (!freshness || freshness.state === "live") return;
  const { state, reason } = freshness;
  notice(`the data is ${state}${reason === "" ? "" : `: ${reason}`}`);
}

/** Returns the exit code after a first connection that failed for good. */
export function exitCodeAfter({ reason, code }: Pick<ConnectionStatus, "reason" | "code">): ExitCode {
  if (code !== undefined) return EXIT.usage;
  // The reason names the system's error, such as ECONNREFUSED.
  return exitCodeOf(Object.assign(new Error(reason), { code: /\bE[A-Z]{3,}\b/.exec(reason)?.[0] }));
}
