import { once } from "node:events";
import { type FileHandle, open } from "node:fs/promises";
import { OutputError } from "../../../feeds/index.ts";
import { plainText } from "./plain-text.ts";
import type { Output } from "./terminal.ts";

/** The destination of output. Writing waits for a slow receiver, which bounds memory. */
export interface TextSink {
  write(text: string): Promise<void>;
  /** Writes the remaining text, then closes. */
  close(): Promise<void>;
}

/** Approximate size of a write in characters, to combine short lines. */
const CHUNK = 65_536;

/**
 * Opens a file to overwrite, or `stdout` for `-`; `undefined` discards the text. For a file,
 * opening and writing reject with {@link OutputError}; for `stdout`, writing rejects with its
 * error.
 */
export async function openSink(target: string | undefined, stdout: Output): Promise<TextSink> {
  if (target === undefined) return { write: async () => {}, close: async () => {} };
  return target === "-" ? chunked(streamSink(stdout)) : chunked(await fileSink(target));
}

async function fileSink(path: string): Promise<TextSink> {
  const handle: FileHandle = await open(path, "w").catch((error: unknown) => fail(path, error));
  return {
    write: (text) =>
      handle.appendFile(text).catch(async (error: unknown) => {
        await handle.close();
        fail(path, error);
      }),
    close: () => handle.close().catch((error: unknown) => fail(path, error)),
  };
}

function streamSink(stream: Output): TextSink {
  let broken: unknown;
  // Without a listener, a stream error would end the process.
  stream.on("error", (error) => {
    broken ??= error;
  });
  return {
    write: async (text) => {
      if (broken) throw broken;
      if (stream.write(text)) return;
      await once(stream, "drain");
      if (broken) throw broken;
    },
    close: () =>
      new Promise((resolve, reject) => {
        // This callback runs after all earlier writes are done.
        stream.write("", (error) => (error || broken ? reject(broken ?? error) : resolve()));
      }),
  };
}

function chunked(sink: TextSink): TextSink {
  let pending: string[] = [];
  let length = 0;
  const flush = async () => {
    const text = pending.join("");
    pending = [];
    length = 0;
    if (text !== "") await sink.write(text);
  };
  return {
    write: async (text) => {
      pending.push(text);
      length += text.length;
      if (length >= CHUNK) await flush();
    },
    close: async () => {
      try {
        await flush();
      } finally {
        await sink.close();
      }
    },
  };
}

function fail(path: string, cause: unknown): never {
  const reason =
    cause instanceof Error ? cause.message.replace(/, (open|write|close)\b.*$/, "") : String(cause);
  throw new OutputError(`cannot write ${plainText(path)}: ${reason}`, { cause });
}
