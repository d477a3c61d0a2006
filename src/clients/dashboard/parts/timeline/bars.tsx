import { Component } from "preact";
import { cssShare } from "../../../../base/lib/text/percent.ts";
import { safeText } from "../../../../base/lib/text/safe-text.ts";
import { flarePageHref } from "../../route.ts";
import type { Bar } from "../../state/timeline/bars.ts";
import type { Box } from "../../state/timeline/lanes.ts";
import { fateText } from "../../text/fate-text.ts";

export interface PlacedBar {
  readonly bar: Bar;
  readonly box: Box;
}

interface BarsProps {
  readonly placed: readonly PlacedBar[];
  readonly lanes: number;
  readonly isAnonymous: boolean;
  /** Called with the flare's id at hover and focus, and with `undefined` afterwards. */
  readonly onShow: (id: string | undefined, how: "pointer" | "focus") => void;
}

/** Narrower bars show no mark: as a share of the width of the strip. */
const MIN_MARKED = 0.01;

/**
 * The bars. One of them is in the tab order, and the arrow keys move to the others, so that a
 * keyboard need not pass hundreds. Rerenders only for other bars or another focus, because events
 * are frequent.
 */
export class Bars extends Component<BarsProps, { readonly focused: string | undefined }> {
  override state = { focused: undefined };
  #list: HTMLElement | null = null;

  override shouldComponentUpdate(next: BarsProps, state: { readonly focused: string | undefined }): boolean {
    return next.placed !== this.props.placed || state.focused !== this.state.focused;
  }

  override render(
    { placed, lanes, isAnonymous, onShow }: BarsProps,
    { focused }: { focused: string | undefined },
  ) {
    const stop = placed.some(({ bar }) => bar.flare.id === focused) ? focused : placed[0]?.bar.flare.id;
    return (
      <ul
        class="bars"
        aria-label="Flares, newest first"
        ref={(list) => {
          this.#list = list;
        }}
        onPointerOver={(event) => onShow(idOf(event.target), "pointer")}
        onPointerLeave={() => onShow(undefined, "pointer")}
        onFocusIn={(event) => {
          this.setState({ focused: idOf(event.target) });
          onShow(idOf(event.target), "focus");
        }}
        onFocusOut={() => onShow(undefined, "focus")}
        onKeyDown={this.#move}
      >
        {placed.map(({ bar, box }) => (
          <li key={bar.flare.id}>
            <a
              class={`bar ${bar.fate} ${box.width < MIN_MARKED ? "short" : ""}`}
              href={flarePageHref(bar.flare, isAnonymous)}
              data-id={bar.flare.id}
              tabIndex={bar.flare.id === stop ? 0 : -1}
              style={{
                // Keep a bar that has just started within the timeline.
                left: `min(${cssShare(box.left)}, 100% - 4px)`,
                width: cssShare(box.width),
                top: cssShare(box.top),
                height: `calc(${cssShare(1 / lanes)} - var(--lane-gap))`,
              }}
            >
              <span class="unseen">{`${safeText(bar.flare.token.symbol)}, ${fateText(bar)}`}</span>
            </a>
          </li>
        ))}
      </ul>
    );
  }

  readonly #move = (event: KeyboardEvent): void => {
    const links = [...(this.#list?.querySelectorAll<HTMLElement>("a") ?? [])];
    const at = links.findIndex(({ dataset }) => dataset.id === idOf(event.target));
    // The newest is first, and time runs to the right.
    const to = { ArrowLeft: at + 1, ArrowRight: at - 1, Home: links.length - 1, End: 0 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    links[to]?.focus();
  };
}

function idOf(target: EventTarget | null): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>("[data-id]")?.dataset.id : undefined;
}
