import { type FileHandle, open } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createGunzip, type Gunzip } from "node:zlib";
import { messageOf } from "../../../base/lib/text/message-of.ts";

/** Bytes per read. Gzip unpacks to at most 1,032 times that: 17 MB from a malicious file. */
const READ_BYTES = 16_384;

/** A file's bytes ended early: the packed data is truncated or damaged, or reading failed. */
export class BytesEndedError extends Error {
  override readonly name = "BytesEndedError";
  readonly how: "cut" | "damaged" | "unreadable";

  constructor(how: BytesEndedError["how"], cause: unknown) {
    super(messageOf(cause), { cause });
    this.how = how;
  }
}

/** Returns whether these first bytes of a file are gzip, whatever the file's name. */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/**
 * Yields the file's bytes, unpacked if gzip. If they end early, throws `BytesEndedError` after
 * them.
 */
export async function* readBytes(path: string, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const source = fileBytes(path, onRead);
  try {
    const first = await source.next();
    if (first.done) return;
    if (isGzip(first.value)) {
      yield* gunzipped(first.value, source);
    } else {
      yield first.value;
      yield* source;
    }
  } finally {
    await source.return(undefined);
  }
}

async function* fileBytes(path: string, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let handle: FileHandle | undefined;
  let total = 0;
  try {
    handle = await open(path, "r");
    for (;;) {
      // A new buffer each time, because the unpacker may still use the previous one.
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES);
      if (bytesRead === 0) return;
      total += bytesRead;
      onRead(total);
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw error instanceof BytesEndedError ? error : new BytesEndedError("unreadable", error);
  } finally {
    await handle?.close();
  }
}

/**
 * Yields the output of each chunk before it feeds the next, so that an error drops at most the
 * output of its chunk.
 */
async function* gunzipped(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  let ready: Uint8Array[] = [];
  gunzip.on("data", (chunk: Buffer) => ready.push(chunk));
  const take = () => {
    const taken = ready;
    ready = [];
    return taken;
  };
  try {
    await feedGunzip(gunzip, first);
    yield* take();
    for await (const chunk of rest) {
      // Zeros after the last member are padding and end the stream.
      if (gunzip.readableEnded) return;
      await feedGunzip(gunzip, chunk);
      yield* take();
    }
    await feedGunzip(gunzip, undefined);
    yield* take();
  } finally {
    gunzip.destroy();
  }
}

/**
 * Resolves when the chunk, or the end if `undefined`, is processed and its output was emitted.
 * Rejects with `BytesEndedError`.
 */
async function feedGunzip(gunzip: Gunzip, chunk: Uint8Array | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error | null) => {
      gunzip.off("error", settle);
      gunzip.off("end", settle);
      if (error)
        reject(
          new BytesEndedError("code" in error && error.code === "Z_BUF_ERROR" ? "cut" : "damaged", error),
        );
      else resolve();
    };
    gunzip.on("error", settle);
    gunzip.on("end", settle);
    if (chunk) gunzip.write(chunk, settle);
    else if (gunzip.readableEnded) settle();
    else gunzip.end();
  });
  while (gunzip.readableLength > 0 && !gunzip.destroyed) await nextTurn();
}
