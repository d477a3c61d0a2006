import { type Stats, statSync } from "node:fs";
import { type FileHandle, open, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { InputError } from "../../base/lib/input-error.ts";
import { formatKeys, type Key, readKeyFile } from "../../gateway/keys/index.ts";

/**
 * Atomically replaces a key file with the result of `edit`, or creates it. The new file keeps its
 * owner and group if this process may set them, and the same group can read it as before. Rejects
 * with InputError if the file is invalid, unreadable or locked, or its directory is not writable;
 * with the error that `edit` throws; and with the file system's error if a later step fails.
 */
export async function editKeyFile(
  file: string,
  edit: (keys: readonly Key[]) => readonly Key[],
): Promise<void> {
  // Replace the target of a symbolic link, not the link.
  const target = await realpath(file).catch(() => file);
  const next = `${target}.new`;
  const handle = await lock(file, next);
  try {
    const owner = statSync(target, { throwIfNoEntry: false });
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

/** Creates the file that will replace the old one. Its existence also locks the old one. */
async function lock(file: string, next: string): Promise<FileHandle> {
  try {
    return await open(next, "wx", 0o600);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const reason =
      code === "EEXIST"
        ? `another process is changing it; if none is, remove ${next}`
        : `it cannot be written: could not create ${next} (${String(code)})`;
    throw new InputError(file, reason, { cause });
  }
}

/**
 * Copies the owner, the group and its read permission, so that the server can still read the file.
 * Without the right to set the group, no other group gets the permission.
 */
async function keepOwner(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const own = await handle.stat();
  if (own.uid !== uid || own.gid !== gid)
    await handle
      .chown(uid, gid)
      .catch(() => handle.chown(own.uid, gid))
      .catch(() => {});
  const isSameGroup = (await handle.stat()).gid === gid;
  await handle.chmod(isSameGroup ? 0o600 | (mode & 0o040) : 0o600);
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  // Not every file system supports this.
  await directory.sync().catch(() => {});
  await directory.close();
}
