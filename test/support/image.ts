import { readFileSync, rmSync, writeFileSync } from "node:fs";

/**
 * The bytes of a database and of its write-ahead file, which are empty if there is no such file.
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

/** Reads the files as a process killed at this moment would leave them. */
export function takeImage(path: string): Image {
  return { main: read(path), wal: read(`${path}-wal`) };
}

/** Writes an image over a closed database. The file is overwritten in place, so its inode stays. */
export function putImage(path: string, { main, wal }: Image): void {
  writeFileSync(path, main);
  rmSync(`${path}-shm`, { force: true });
  if (wal.length > 0) writeFileSync(`${path}-wal`, wal);
  else rmSync(`${path}-wal`, { force: true });
}

const HEADER_BYTES = 32;

/**
 * Counts the valid frames of a write-ahead file: https://www.sqlite.org/fileformat2.html#walformat
 */
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

/** Returns the offset of a byte in the middle frame. */
function middleOf(image: Image): number {
  const count = framesOf(image);
  if (count < 8) throw new Error(`the write-ahead file has ${count} frames; corrupting it needs at least 8`);
  return HEADER_BYTES + Math.floor(count / 2) * (image.wal.readUInt32BE(8) + 24) + 100;
}

/** Flips a bit in the middle. SQLite treats the first bad frame as the end of the file. */
export function flipBit(image: Image): Image {
  const spoiled = Buffer.from(image.wal);
  const at = middleOf(image);
  spoiled.writeUInt8(spoiled.readUInt8(at) ^ 1, at);
  return { main: image.main, wal: spoiled };
}

/** Cuts the write-ahead file in the middle. */
export function cutInHalf(image: Image): Image {
  return { main: image.main, wal: image.wal.subarray(0, middleOf(image)) };
}
