/** Tracks whether the history contains all events of the log. */
export class HistoryProgress {
  #state: "behind" | "complete" | "failed" = "behind";
  #waiting: ((isComplete: boolean) => void)[] = [];

  /** Waits while the history is behind. Resolves to whether it has stored all events. */
  async settled(): Promise<boolean> {
    if (this.#state !== "behind") return this.#state === "complete";
    return await new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Call it when an event was appended. */
  fallBehind(): void {
    if (this.#state === "complete") this.#state = "behind";
  }

  catchUp(): void {
    this.#end("complete");
  }

  /** Call it when storing failed or ended. */
  fail(): void {
    this.#end("failed");
  }

  #end(state: "complete" | "failed"): void {
    this.#state = state;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(state === "complete");
  }
}
