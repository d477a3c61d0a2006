import { once } from "node:events";
import { type FileHandle, open } from "node:fs/promises";
import { plainText } from "./plain-text.ts";
import type { Output } from "./terminal.ts";

/** Where a command's result goes. Writing waits while the receiver is busy, so that memory stays bounded. */
export interface TextSink {
  write(text: string): Promise<void>;
  /** Writes what is still held; the sink is done. */
  close(): Promise<void>;
}

/** A result that cannot be written: the disk is full, the directory is missing, the right to write is. */
export class OutputError extends Error {
  override readonly name = "OutputError";
}

/** Bytes, about, that are gathered before they are written: one call of the system for many short lines. */
const CHUNK = 65_536;

/** A sink for `target`: a file that is made or overwritten, `-` for `stdout`, `undefined` for nowhere. Rejects with {@link OutputError}; a broken pipe rejects as it came. */
export async function openSink(target: string | undefined, stdout: Output): Promise<TextSink> {
  if (target === undefined) return { write: async () => {}, close: async () => {} };
  return target === "-" ? chunked(streamSink(stdout)) : chunked(await fileSink(target));
}

async function fileSink(path: string): Promise<TextSink> {
  const handle: FileHandle = await open(path, "w").catch((error: unknown) => fail(path, error));
  return {
    write: (text) => handle.appendFile(text).catch((error: unknown) => fail(path, error)),
    close: () => handle.close().catch((error: unknown) => fail(path, error)),
  };
}

function streamSink(stream: Output): TextSink {
  let broken: unknown;
  // Without a listener the stream's error would end the process.
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
        // The last write's callback says that everything before it has left, too.
        stream.write("", (error) => (error || broken ? reject(broken ?? error) : resolve()));
      }),
  };
}

function chunked(sink: TextSink): TextSink {
  let held: string[] = [];
  let length = 0;
  const flush = async () => {
    const text = held.join("");
    held = [];
    length = 0;
    if (text !== "") await sink.write(text);
  };
  return {
    write: async (text) => {
      held.push(text);
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
