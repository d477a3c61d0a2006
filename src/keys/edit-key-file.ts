import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { InputError } from "../lib/input-error.ts";
import { formatKeys, type Key, readKeyFile } from "./key-file.ts";

/**
 * Replaces a file of keys by what `edit` makes of its keys; without a file there are none, and one is made. Whoever reads it sees the old file or the
 * new one, never a part. Only its owner may read it. Throws InputError when the file is broken or somebody else is at work on it; what `edit`
 * throws leaves the file as it is.
 */
export async function editKeyFile(
  file: string,
  edit: (keys: readonly Key[]) => readonly Key[],
): Promise<void> {
  // A link goes on being one.
  const target = await realpath(file).catch(() => file);
  const next = `${target}.new`;
  const handle = await lock(file, next);
  try {
    const owner = await ownerOf(target);
    const keys = owner ? (await readKeyFile(target)).keys : [];
    await handle.writeFile(formatKeys(edit(keys)));
    if (owner) await keepOwner(handle, owner);
    await handle.sync();
    await handle.close();
    await rename(next, target);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(next, { force: true });
    throw error;
  }
  await syncDirectory(dirname(target));
}

/** The file that will take the place of the old one; that it is there keeps others from changing the old one meanwhile. */
async function lock(file: string, next: string): Promise<FileHandle> {
  try {
    return await open(next, "wx", 0o600);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const reason =
      code === "EEXIST"
        ? `somebody else is changing it; if nobody is, remove ${next}`
        : `it cannot be written: ${next} cannot be made (${String(code)})`;
    throw new InputError(file, reason, { cause });
  }
}

async function ownerOf(path: string): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** An administrator's change must not lock the server out of its file. */
async function keepOwner(
  handle: FileHandle,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): Promise<void> {
  const own = await handle.stat();
  if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid).catch(() => {});
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  // Not every file system can.
  await directory.sync().catch(() => {});
  await directory.close();
}
