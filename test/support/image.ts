import { readFileSync, rmSync, writeFileSync } from "node:fs";

/**
 * The bytes of a database and of its write-ahead file; of the latter none where there is no such
 * file.
 */
export interface Image {
  readonly main: Buffer;
  readonly wal: Buffer;
}

const read = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
};

/** What a process that is killed now leaves behind. */
export function takeImage(path: string): Image {
  return { main: read(path), wal: read(`${path}-wal`) };
}

/**
 * Writes an image over a database that nobody has open. The file stays the same one: it keeps its
 * inode.
 */
export function putImage(path: string, { main, wal }: Image): void {
  writeFileSync(path, main);
  rmSync(`${path}-shm`, { force: true });
  if (wal.length > 0) writeFileSync(`${path}-wal`, wal);
  else rmSync(`${path}-wal`, { force: true });
}

const HEADER_BYTES = 32;

/** Frames of a write-ahead file that count: https://www.sqlite.org/fileformat2.html#walformat */
export function framesOf({ wal }: Image): number {
  if (wal.length < HEADER_BYTES) return 0;
  const frameBytes = wal.readUInt32BE(8) + 24;
  const salts = wal.subarray(16, 24);
  let count = 0;
  for (let at = HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    if (!wal.subarray(at + 8, at + 16).equals(salts)) break;
    count += 1;
  }
  return count;
}

/** A byte of the frame in the middle. */
function middleOf(image: Image): number {
  const count = framesOf(image);
  if (count < 8) throw new Error(`the write-ahead file has ${count} frames only: nothing to spoil`);
  return HEADER_BYTES + Math.floor(count / 2) * (image.wal.readUInt32BE(8) + 24) + 100;
}

/** With a bit turned in the middle: SQLite takes the first bad frame for the end. */
export function flipBit(image: Image): Image {
  const spoiled = Buffer.from(image.wal);
  const at = middleOf(image);
  spoiled.writeUInt8(spoiled.readUInt8(at) ^ 1, at);
  return { main: image.main, wal: spoiled };
}

/** With half of the write-ahead file. */
export function cutInHalf(image: Image): Image {
  return { main: image.main, wal: image.wal.subarray(0, middleOf(image)) };
}
