import { stat } from "node:fs/promises";
import type { Clock } from "../../base/lib/time/clock.ts";

/** Interval at which the files are checked. */
export const LOOK_MS = 1_000;

interface FollowedFilesOptions<T> {
  readonly files: readonly string[];
  readonly clock: Clock;
  /** Reads and checks the files. Rejects if they are invalid. `text`: their contents. */
  readonly read: () => Promise<{ readonly text: string; readonly value: T }>;
  /** Receives each new valid version. */
  readonly onChange: (value: T) => void;
  /** Receives the error once for each change that leaves the files invalid. */
  readonly onInvalid: (error: unknown) => void;
}

/** Follows files that belong together. `fs.watch` would miss replacements and network drives. */
export class FollowedFiles<T> {
  readonly #options: FollowedFilesOptions<T>;
  #signature = "";
  /**
   * Whether the files were read again after a change, because a further change may have left the
   * same timestamp.
   */
  #isSettled = false;
  /** The valid text; `undefined` while the files are invalid. */
  #text: string | undefined;
  #looking: Promise<boolean> | undefined;
  #stop: () => void = () => {};

  private constructor(options: FollowedFilesOptions<T>) {
    this.#options = options;
  }

  /** Reads the files and follows them until {@link stop}. Rejects if they are invalid. */
  static async open<T>(
    options: FollowedFilesOptions<T>,
  ): Promise<{ readonly value: T; readonly files: FollowedFiles<T> }> {
    const files = new FollowedFiles(options);
    files.#signature = await files.#signatures();
    const { text, value } = await options.read();
    files.#text = text;
    files.#stop = options.clock.every(LOOK_MS, () => void files.look());
    return { value, files };
  }

  /** True while the files are invalid. */
  get isStale(): boolean {
    return this.#text === undefined;
  }

  /**
   * Rereads changed files. Called every second. Resolves with whether they are valid now. Never
   * rejects.
   */
  look(): Promise<boolean> {
    this.#looking ??= this.#reread().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Resolves when a read in progress has ended. */
  async looked(): Promise<void> {
    await this.#looking;
  }

  stop(): void {
    this.#stop();
  }

  async #reread(): Promise<boolean> {
    const signature = await this.#signatures();
    const isSame = signature === this.#signature;
    if (isSame && this.#isSettled) return !this.isStale;
    this.#signature = signature;
    this.#isSettled = isSame;
    try {
      const { text, value } = await this.#options.read();
      if (text !== this.#text) {
        this.#text = text;
        this.#options.onChange(value);
      }
      return true;
    } catch (error) {
      // A file that is being written may be invalid for a moment. Report it only if it stays so.
      if (isSame) {
        this.#text = undefined;
        this.#options.onInvalid(error);
      }
      return false;
    }
  }

  async #signatures(): Promise<string> {
    return (await Promise.all(this.#options.files.map(signatureOf))).join(" ");
  }
}

/**
 * Returns a text that changes when the file changes or is replaced. For a missing file, it is the
 * error code.
 */
async function signatureOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "unreadable";
  }
}
