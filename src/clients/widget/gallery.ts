import type { FlareElement } from "./flare-element.ts";
import { SharedFeed } from "./shared-feed.ts";

/** The page's elements. Paints them together, at most once per frame, from one shared feed. */
export class Gallery {
  /** Address of the server, with a trailing slash. */
  readonly server: string;
  readonly #feed: SharedFeed;
  readonly #elements = new Set<FlareElement>();
  #asked = 0;

  constructor(server: string) {
    this.server = server;
    this.#feed = new SharedFeed(server, () => this.ask());
  }

  add(element: FlareElement): void {
    this.#elements.add(element);
    this.#feed.start();
    this.ask();
  }

  remove(element: FlareElement): void {
    this.#elements.delete(element);
    // Moving an element removes it and adds it again at once.
    queueMicrotask(() => {
      if (this.#elements.size === 0) this.#feed.stop();
    });
  }

  /** Schedules a painting in the next frame. Hidden pages have no frames. */
  ask(): void {
    this.#asked ||= requestAnimationFrame(() => {
      this.#asked = 0;
      const seen = this.#feed.now();
      for (const element of this.#elements) element.show(seen);
    });
  }
}
