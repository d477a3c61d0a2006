import { stat } from "node:fs/promises";
import type { Clock } from "../lib/time/clock.ts";
import { type CloseReason, isLowered } from "../protocol/index.ts";
import { isExpired, type Key, readKeyFile } from "./key-file.ts";
import { idOf, isSecretOf } from "./secret.ts";

/** How often the file and the keys' last moments are looked at. */
const LOOK_MS = 1_000;

/** Why those who hold a key are sent away: it does not count any more, or not for as much as before. */
export type EndReason = Extract<CloseReason, "unauthorized" | "forbidden">;

/** What a key ring is made of. */
interface KeyRingOptions {
  readonly file: string;
  readonly clock: Clock;
  /** Told of each new version of the file that counts: the ids of what it has, and what changed. */
  readonly onReload: (change: KeyChange) => void;
  /** Told once of a file that cannot be used, as an InputError; the keys of before go on. */
  readonly onTrouble: (error: unknown) => void;
  /** Told whose holders have to go. */
  readonly onEnd: (id: string, reason: EndReason) => void;
}

/** What a new version of the file brought, by the ids of keys. */
export interface KeyChange {
  readonly keys: number;
  readonly added: readonly string[];
  readonly revoked: readonly string[];
  readonly lowered: readonly string[];
}

/** Keys that count, by their text and by their id. */
export interface KnownKeys {
  /** See {@link KeyRing.find}. */
  find(text: string): Key | undefined;
  /** See {@link KeyRing.get}. */
  get(id: string): Key | undefined;
}

interface Held {
  readonly key: Key;
  readonly digest: Buffer;
}

type HeldKeys = ReadonlyMap<string, Held>;

/** The keys of a list that somebody else follows. */
export function knownKeys(keys: readonly Key[]): KnownKeys {
  const held = hold(keys);
  return { find: (text) => findIn(held, text), get: (id) => held.get(id)?.key };
}

/**
 * The keys that count now: those of a file, which is looked at every second. Not watched: what replaces a file by another, as editors and
 * orchestrators do, and what lies on a network, is not seen by a watch.
 */
export class KeyRing implements KnownKeys {
  readonly #options: KeyRingOptions;
  #held: HeldKeys = hold([]);
  /** Ids of keys that have been ended for their age. */
  #ended: ReadonlySet<string> = new Set();
  #signature = "";
  /** The file was read again after it was seen in this form first: it may have changed within the grain of its times. */
  #isSettled = false;
  /** As it counts. */
  #text: string | undefined;
  #looking: Promise<void> | undefined;
  #stop: () => void = () => {};

  private constructor(options: KeyRingOptions) {
    this.#options = options;
  }

  /** Reads the file and follows it until {@link stop}. Rejects with InputError where it cannot be used. */
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

  /** How many keys there are, those included whose time is over. */
  get size(): number {
    return this.#held.size;
  }

  /** All of them, without their secrets. */
  get keys(): readonly Key[] {
    return [...this.#held.values()].map(({ key }) => key);
  }

  /** True while the file cannot be used, and the keys read before it became so count. */
  get isStale(): boolean {
    return this.#text === undefined;
  }

  /** The key whose whole text this is, whether its time is over or not; `undefined` for any other text, which takes no longer the more of it is right. */
  find(text: string): Key | undefined {
    return findIn(this.#held, text);
  }

  /** The key of this id, whether its time is over or not. */
  get(id: string): Key | undefined {
    return this.#held.get(id)?.key;
  }

  /** Sends away whose key's time is over, and takes in what the file says now; called every second. Resolves when that is done, and never rejects. */
  look(): Promise<void> {
    this.#endExpired();
    this.#looking ??= this.#reread().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Resolves when the look that is under way, if there is one, is over. */
  async looked(): Promise<void> {
    await this.#looking;
  }

  /** Looks no more. */
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
      // What is just being written is broken for a moment; what stays so is told of.
      if (!isSame) return;
      this.#text = undefined;
      this.#options.onTrouble(error);
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

/** Changes whenever the file does, or another takes its place; of one that is not there, says why. */
async function signatureOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "unreadable";
  }
}
