import { Component, type ComponentChildren, createRef } from "preact";

const GLIDE_MS = 180;

interface GlidingProps {
  /** The rows in order. Nothing is measured while it stays the same. */
  readonly order: string;
  readonly children: ComponentChildren;
}

/**
 * A table's body whose rows glide to new positions, so that the eye can follow. Rows do not glide
 * with reduced motion, or if the body's start is scrolled away: there, the browser's scroll
 * anchoring applies.
 */
export class Gliding extends Component<GlidingProps> {
  readonly #list = createRef<HTMLTableSectionElement>();
  /** How far below its new position each moved item was before the last change, in pixels. */
  #offsets: ReadonlyMap<HTMLElement, number> = new Map();
  #sinceMs = 0;
  #frame = 0;
  /** Time of the frame of the last step. */
  #paintedMs = 0;
  /** Share of the way left before the last step: what is visible until that step is painted. */
  #seenLeft = 0;
  /** Share of the way that is left. */
  #left = 0;

  override getSnapshotBeforeUpdate(before: GlidingProps): ReadonlyMap<HTMLElement, number> | undefined {
    if (before.order === this.props.order) return undefined;
    // Undo a step in the same frame, which is not yet visible: otherwise it is a layout shift.
    if (document.timeline.currentTime === this.#paintedMs) this.#move(this.#seenLeft);
    return new Map(this.#items().map((item) => [item, topOf(item)]));
  }

  override componentDidUpdate(
    _props: GlidingProps,
    _state: unknown,
    before: ReadonlyMap<HTMLElement, number> | undefined,
  ): void {
    const list = this.#list.current;
    if (!before || !list) return;
    // A gliding item continues from its current position.
    for (const item of this.#offsets.keys()) item.style.transform = "";
    const isStill = topOf(list) <= 0 || matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#offsets = isStill ? new Map() : offsetsOf(this.#items(), before);
    this.#sinceMs = performance.now();
    cancelAnimationFrame(this.#frame);
    this.#paint(this.#sinceMs);
  }

  override componentWillUnmount(): void {
    cancelAnimationFrame(this.#frame);
  }

  override render({ children }: GlidingProps) {
    return <tbody ref={this.#list}>{children}</tbody>;
  }

  #items(): readonly HTMLElement[] {
    return [...(this.#list.current?.querySelectorAll<HTMLElement>(":scope > *") ?? [])];
  }

  #move(left: number): void {
    this.#left = left;
    for (const [item, offset] of this.#offsets)
      item.style.transform = left === 0 ? "" : `translateY(${offset * left}px)`;
  }

  readonly #paint = (nowMs: number): void => {
    // The frame's timestamp may be before the change.
    const left = Math.min(1, Math.max(0, 1 - (nowMs - this.#sinceMs) / GLIDE_MS)) ** 2;
    this.#seenLeft = this.#left;
    this.#paintedMs = nowMs;
    this.#move(left);
    if (left > 0 && this.#offsets.size > 0) this.#frame = requestAnimationFrame(this.#paint);
  };
}

/** Returns the offsets of moved items, without new ones and those below the screen. */
function offsetsOf(
  items: readonly HTMLElement[],
  before: ReadonlyMap<HTMLElement, number>,
): ReadonlyMap<HTMLElement, number> {
  const moved = items.flatMap((item): readonly [HTMLElement, number][] => {
    const [from, to] = [before.get(item), topOf(item)];
    const isSeen = from !== undefined && Math.min(from, to) < innerHeight;
    return isSeen && from !== to ? [[item, from - to]] : [];
  });
  return new Map(moved);
}

function topOf(element: Element): number {
  return element.getBoundingClientRect().top;
}
