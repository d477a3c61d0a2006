import type { Notify } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { type CloseReason, FlarewireError, isLowered } from "../../base/protocol/index.ts";
import { FollowedFiles, LOOK_MS } from "./followed-files.ts";
import { isExpired, type Key, type KeyGrant, readKeyFile } from "./key-file.ts";
import { idOf, isSecretOf } from "./secret.ts";

/**
 * Why a key's clients are disconnected: the key is no longer valid, or has fewer rights than
 * before.
 */
export type EndReason = Extract<CloseReason, "unauthorized" | "forbidden">;

const UNREADABLE = "the key is not known yet: the server cannot read its file of keys now; retry later";

interface KeyRingOptions {
  readonly file: string;
  readonly clock: Clock;
  /** Reports each new valid version of the file: the number of keys, and the changes. */
  readonly onReload: (change: KeyChange) => void;
  /** Reports once per invalid version why the file is invalid. The previous keys stay in use. */
  readonly notify: Notify;
  /** Reports a key whose clients must be disconnected. */
  readonly onEnd: (id: string, reason: EndReason) => void;
}

/** The changes of a new version of the file, by key id. */
interface KeyChange {
  readonly keys: number;
  readonly added: readonly string[];
  /** Keys that were removed, or whose secret changed. */
  readonly revoked: readonly string[];
  /** Keys that lost some of their rights. */
  readonly lowered: readonly string[];
}

/** Looks up what a key or token grants, even an expired one. */
export interface KnownKeys {
  /** By the text of the key or token. */
  find(text: string): KeyGrant | undefined;
  /** By the id of a key, or the reference that a ticket stores ({@link refOf}). */
  get(ref: string): KeyGrant | undefined;
  /**
   * Looks again for what is not known here. Returns `not-ready` while it may be valid nevertheless,
   * and may return why it is invalid. Call it before `find` with `text`, or before `get` with
   * `ref`. Never rejects.
   */
  verify(asked: Asked): Promise<FlarewireError | undefined>;
}

export type Asked = { readonly text: string } | { readonly ref: string };

interface Held {
  readonly key: Key;
  readonly digest: Buffer;
}

type HeldKeys = ReadonlyMap<string, Held>;

/** Creates a fixed set of keys. */
export function knownKeys(keys: readonly Key[]): KnownKeys {
  const held = hold(keys);
  return {
    find: (text) => findIn(held, text),
    get: (id) => held.get(id)?.key,
    verify: async () => undefined,
  };
}

/** The keys of a file. Rereads the file when it changes. */
export class KeyRing implements KnownKeys {
  readonly #options: KeyRingOptions;
  #held: HeldKeys = hold([]);
  /** Ids of the keys that were expired at the last check. Only newly expired ones are reported. */
  #ended: ReadonlySet<string> = new Set();
  readonly #files: FollowedFiles<readonly Key[]>;
  readonly #stop: () => void;

  private constructor(options: KeyRingOptions, keys: readonly Key[], files: FollowedFiles<readonly Key[]>) {
    this.#options = options;
    this.#files = files;
    this.#held = hold(keys);
    this.#ended = this.#expired();
    this.#stop = options.clock.every(LOOK_MS, () => this.#endExpired());
  }

  /** Reads the file and follows it until {@link stop}. Rejects with InputError if it is invalid. */
  static async open(options: KeyRingOptions): Promise<KeyRing> {
    const { file, clock, notify } = options;
    const { value, files } = await FollowedFiles.open({
      files: [file],
      clock,
      read: async () => {
        const { text, keys } = await readKeyFile(file);
        return { text, value: keys };
      },
      onChange: (keys) => ring.#replace(keys),
      onInvalid: (error) =>
        notify("error", "key file is invalid; keeping the previous keys", { reason: messageOf(error) }),
    });
    const ring = new KeyRing(options, value, files);
    return ring;
  }

  get keys(): readonly Key[] {
    return [...this.#held.values()].map(({ key }) => key);
  }

  /** True while the file is invalid and the previous keys are in use. */
  get isStale(): boolean {
    return this.#files.isStale;
  }

  /** Returns the key with this text, even if expired. Compares in constant time. */
  find(text: string): Key | undefined {
    return findIn(this.#held, text);
  }

  /** Returns the key with this id, even if expired. */
  get(id: string): Key | undefined {
    return this.#held.get(id)?.key;
  }

  async verify(asked: Asked): Promise<FlarewireError | undefined> {
    const isKnown = () => ("text" in asked ? this.find(asked.text) : this.get(asked.ref)) !== undefined;
    if (isKnown() || ("text" in asked && idOf("fw", asked.text) === undefined)) return undefined;
    await this.#files.looked();
    if ((await this.#files.look()) || isKnown()) return undefined;
    return new FlarewireError("not-ready", UNREADABLE);
  }

  /** Reports newly expired keys and rereads the file if it changed. Never rejects. */
  async look(): Promise<void> {
    this.#endExpired();
    await this.#files.look();
  }

  /** Resolves when a check in progress is done. */
  looked(): Promise<void> {
    return this.#files.looked();
  }

  stop(): void {
    this.#stop();
    this.#files.stop();
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
      else if (isLowered(key, now.key)) lowered.push(id);
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
