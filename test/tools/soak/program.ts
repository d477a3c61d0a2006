import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../../src/main.ts", import.meta.url));

/** The program as an operator runs it, in a separate process. */
export interface Program extends AsyncDisposable {
  readonly url: string;
  readonly log: () => string;
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `flarewire serve` with a limit of open files. Resolves when it serves. */
export async function startProgram(args: readonly string[], openFiles: number): Promise<Program> {
  const script = 'ulimit -n "$1" && shift && exec "$@"';
  const command = [process.execPath, MAIN, "serve", "--port", "0", "--data", "none", ...args];
  const child = spawn("sh", ["-c", script, "sh", `${openFiles}`, ...command], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close").then(() => child.exitCode);
  let text = "";
  const serving = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const [, url] = /flarewire serves (http:\S+)/.exec(text) ?? [];
      if (url !== undefined) serving.resolve(url);
    });
  ended.then(() => serving.reject(new Error(text)));
  const stop = () => {
    child.kill("SIGTERM");
    return ended;
  };
  const url = await serving.promise;
  return {
    ...{ url, stop, log: () => text },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Returns the values of `/metrics` by series. */
export async function scrape(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return new Map(
    text.split("\n").flatMap((line) => {
      const at = line.lastIndexOf(" ");
      return line === "" || line.startsWith("#") ? [] : [[line.slice(0, at), Number(line.slice(at + 1))]];
    }),
  );
}
