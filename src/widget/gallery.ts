import type { FlareElement } from "./flare-element.ts";
import { SharedFeed } from "./shared-feed.ts";

/** The page's elements, painted together and at most once a frame, from one feed that is followed while there are any. */
export class Gallery {
  /** Address of the server, with a slash at its end. */
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
    // An element that is moved is put back at once.
    queueMicrotask(() => {
      if (this.#elements.size === 0) this.#feed.stop();
    });
  }

  /** Has everything painted in the next frame; a page that nobody looks at has none. */
  ask(): void {
    this.#asked ||= requestAnimationFrame(() => {
      this.#asked = 0;
      const seen = this.#feed.now();
      for (const element of this.#elements) element.show(seen);
    });
  }
}
