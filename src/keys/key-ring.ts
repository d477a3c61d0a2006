import { stat } from "node:fs/promises";
import type { Notify } from "../lib/notify.ts";
import { messageOf } from "../lib/text/message-of.ts";
import type { Clock } from "../lib/time/clock.ts";
import { type CloseReason, isLowered } from "../protocol/index.ts";
import { isExpired, type Key, readKeyFile } from "./key-file.ts";
import { idOf, isSecretOf } from "./secret.ts";

/** How often to check the file and the keys' expiry. */
const LOOK_MS = 1_000;

/** Why a key's clients are disconnected: the key is invalid, or has fewer rights than before. */
export type EndReason = Extract<CloseReason, "unauthorized" | "forbidden">;

interface KeyRingOptions {
  readonly file: string;
  readonly clock: Clock;
  /** Reports each new valid version of the file: its keys' ids, and the changes. */
  readonly onReload: (change: KeyChange) => void;
  /** Reports once, as an InputError, that the file is invalid. The previous keys stay valid. */
  readonly notify: Notify;
  /** Reports a key whose clients must be disconnected. */
  readonly onEnd: (id: string, reason: EndReason) => void;
}

/** The changes of a new version of the file, by key id. */
export interface KeyChange {
  readonly keys: number;
  readonly added: readonly string[];
  readonly revoked: readonly string[];
  readonly lowered: readonly string[];
}

/** Looks up valid keys. */
export interface KnownKeys {
  find(text: string): Key | undefined;
  get(id: string): Key | undefined;
}

interface Held {
  readonly key: Key;
  readonly digest: Buffer;
}

type HeldKeys = ReadonlyMap<string, Held>;

/** Creates a fixed set of keys, for a process that does not read the file itself. */
export function knownKeys(keys: readonly Key[]): KnownKeys {
  const held = hold(keys);
  return { find: (text) => findIn(held, text), get: (id) => held.get(id)?.key };
}

/** The keys of a file, checked each second: a watch misses replacements and network drives. */
export class KeyRing implements KnownKeys {
  readonly #options: KeyRingOptions;
  #held: HeldKeys = hold([]);
  /** Ids of keys that ended by expiry. */
  #ended: ReadonlySet<string> = new Set();
  #signature = "";
  /** Read again after the last change, which may have the same timestamp as another one. */
  #isSettled = false;
  /** The valid text; `undefined` while the file is invalid. */
  #text: string | undefined;
  #looking: Promise<void> | undefined;
  #stop: () => void = () => {};

  private constructor(options: KeyRingOptions) {
    this.#options = options;
  }

  /** Reads the file and follows it until {@link stop}. Rejects with InputError if it is invalid. */
  static async open(options: KeyRingOptions): Promise<KeyRing> {
    const ring = new KeyRing(options);
    ring.#signature = await signatureOf(options.file);
    const { text, keys } = await readKeyFile(options.file);
    ring.#text = text;
    ring.#held = hold(keys);
    ring.#ended = ring.#expired();
    ring.#stop = options.clock.every(LOOK_MS, () => void ring.look());
    return ring;
  }

  get size(): number {
    return this.#held.size;
  }

  get keys(): readonly Key[] {
    return [...this.#held.values()].map(({ key }) => key);
  }

  /** True while the file is invalid and the previous keys are in use. */
  get isStale(): boolean {
    return this.#text === undefined;
  }

  /** Returns the key with this exact text, even if expired. Takes constant time. */
  find(text: string): Key | undefined {
    return findIn(this.#held, text);
  }

  /** Returns the key with this id, even if expired. */
  get(id: string): Key | undefined {
    return this.#held.get(id)?.key;
  }

  /** Ends expired keys and rereads the file. Called every second. Never rejects. */
  look(): Promise<void> {
    this.#endExpired();
    this.#looking ??= this.#reread().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async looked(): Promise<void> {
    await this.#looking;
  }

  stop(): void {
    this.#stop();
  }

  async #reread(): Promise<void> {
    const signature = await signatureOf(this.#options.file);
    const isSame = signature === this.#signature;
    if (isSame && this.#isSettled) return;
    this.#signature = signature;
    this.#isSettled = isSame;
    try {
      const { text, keys } = await readKeyFile(this.#options.file);
      if (text === this.#text) return;
      this.#text = text;
      this.#replace(keys);
    } catch (error) {
      // A file that is being written may be invalid for a moment. Report it only if it stays so.
      if (!isSame) return;
      this.#text = undefined;
      this.#options.notify("error", "key file is invalid; keeping the previous keys", {
        reason: messageOf(error),
      });
    }
  }

  #replace(keys: readonly Key[]): void {
    const before = this.#held;
    const after = hold(keys);
    this.#held = after;
    const revoked: string[] = [];
    const lowered: string[] = [];
    for (const [id, { key, digest }] of before) {
      const now = after.get(id);
      if (!now?.digest.equals(digest)) revoked.push(id);
      else if (isLowered(key.plan, now.key.plan)) lowered.push(id);
    }
    const added = [...after.keys()].filter((id) => !before.has(id));
    this.#options.onReload({ keys: after.size, added, revoked, lowered });
    for (const id of revoked) this.#options.onEnd(id, "unauthorized");
    for (const id of lowered) this.#options.onEnd(id, "forbidden");
    this.#endExpired();
  }

  #endExpired(): void {
    const expired = this.#expired();
    for (const id of expired) if (!this.#ended.has(id)) this.#options.onEnd(id, "unauthorized");
    this.#ended = expired;
  }

  #expired(): ReadonlySet<string> {
    const nowMs = this.#options.clock.now();
    const expired = [...this.#held.values()].filter(({ key }) => isExpired(key, nowMs));
    return new Set(expired.map(({ key }) => key.id));
  }
}

function findIn(held: HeldKeys, text: string): Key | undefined {
  const found = held.get(idOf("fw", text) ?? "");
  return isSecretOf(found?.digest, text) ? found?.key : undefined;
}

function hold(keys: readonly Key[]): HeldKeys {
  return new Map(keys.map((key) => [key.id, { key, digest: Buffer.from(key.sha256, "hex") }]));
}

/** Changes when the file changes or is replaced. For a missing file, returns the error code. */
async function signatureOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "unreadable";
  }
}
