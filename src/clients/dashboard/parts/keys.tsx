import { Sheet } from "./bot/sheet.tsx";

const ROWS = ".tokens tbody > tr:not(.heading)";
/** Where keys are typed, or belong to a dialog. */
const OWN_KEYS = "input:not([type=radio], [type=checkbox]), select, textarea, dialog";

/** The keys of the page, and what they do. `f` does the same in the program's `top`. */
const KEYS = [
  ["j, k", "Next and previous row"],
  ["Enter", "Open the row"],
  ["*", "Put it on the watch list, or take it off"],
  ["f", "Flaring now, or finished"],
  ["/", "Search"],
  ["?", "These keys"],
] as const;

export interface KeyListProps {
  readonly onClose: () => void;
}

export function KeyList({ onClose }: KeyListProps) {
  return (
    <Sheet title="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}

/**
 * Handles the keys of the page until the signal aborts. The selected row's link has the focus, so
 * the browser opens it with Enter, and it stays selected while rows move.
 */
export function handleKeys(onHelp: () => void, signal: AbortSignal): void {
  const onKey = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    if (ctrlKey || metaKey || altKey || !(target instanceof Element) || target.closest(OWN_KEYS)) return;
    if (key === "j" || key === "k") focusRow(key === "j" ? 1 : -1);
    else if (key === "*") target.closest(ROWS)?.querySelector<HTMLElement>(".star")?.click();
    else if (key === "f") location.assign(location.hash.startsWith("#/finished") ? "#/now" : "#/finished");
    else if (key === "?") onHelp();
    else return;
    event.preventDefault();
  };
  addEventListener("keydown", onKey, { signal });
}

/** Moves the focus to the next or previous row: from elsewhere, to the first. */
function focusRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll(ROWS)];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[at < 0 ? 0 : at + step];
  row?.querySelector<HTMLElement>(".symbol a")?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}
