import { useEffect, useRef, useState } from "preact/hooks";
import { GROUP_FACTS } from "../../../base/model/groups.ts";
import { tokenHash } from "../route.ts";
import { followed, server, view } from "../state/store.ts";
import { UntrustedText } from "./untrusted-text.tsx";

type Find = typeof import("../state/find-tokens.ts").findTokens;

/** Returns the address of a token's page in the dashboard, also from a page outside it. */
function hrefOf(...token: Parameters<typeof tokenHash>): string {
  return server.value.pathname + tokenHash(...token);
}

/**
 * Finds a token of any group by its symbol, name or address: a combobox as ARIA describes it. `/`
 * and Ctrl-K move the focus here, the arrow keys choose a token, and Enter opens it.
 */
export function Search() {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const [find, setFind] = useState<Find>();
  const input = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLElement>(null);
  const wanted = text.trim();
  const isOpen = wanted !== "" && find !== undefined && view.value !== undefined;
  const found = isOpen && view.value ? find(view.value, followed.value, wanted) : [];
  // The list may have become shorter since.
  const at = Math.min(chosen, found.length - 1);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
      const isWanted = event.key === "/" ? !isTyping : event.key === "k" && (event.ctrlKey || event.metaKey);
      if (!isWanted) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const type = (typed: string) => {
    setText(typed);
    setChosen(0);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (event.key === "Escape") type("");
    if (to === undefined || found.length === 0) return;
    event.preventDefault();
    setChosen((to + found.length) % found.length);
  };
  const combobox = {
    role: "combobox",
    // The types require it with this role. It is for options in the document.
    list: undefined,
    "aria-autocomplete": "list",
    "aria-expanded": isOpen,
    "aria-controls": "found-tokens",
    "aria-activedescendant": found[at] && `found-${at}`,
  } as const;
  return (
    <search
      class="search"
      ref={box}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !box.current?.contains(relatedTarget)) type("");
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const token = found[at];
          if (token) location.assign(hrefOf(token.group, token.key));
          if (isOpen) type("");
        }}
      >
        <input
          ref={input}
          type="search"
          {...combobox}
          aria-label="Search any token"
          placeholder="Search any token"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onFocus={() => {
            // Not needed for the first picture.
            import("../state/find-tokens.ts").then(
              ({ findTokens }) => setFind(() => findTokens),
              () => {},
            );
          }}
          onInput={({ currentTarget }) => type(currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <span class="key-hint" aria-hidden="true">
          /
        </span>
      </form>
      <div id="found-tokens" role="listbox" aria-label="Tokens" hidden={!isOpen}>
        <ul role="presentation">
          {found.map(({ group, key, symbol, name }, index) => (
            <li key={`${group} ${key}`} role="presentation">
              <a
                id={`found-${index}`}
                role="option"
                aria-selected={index === at}
                tabIndex={-1}
                href={hrefOf(group, key)}
                onClick={() => type("")}
              >
                <b>
                  <UntrustedText text={symbol} />
                </b>
                <small>
                  <UntrustedText text={name} />
                </small>
                <small class="tag">{GROUP_FACTS[group].label}</small>
              </a>
            </li>
          ))}
          {found.length === 0 && (
            <li role="presentation" class="soft">
              <span role="option" aria-disabled="true" aria-selected={false} tabIndex={-1}>
                No token in the present lists has this name.
              </span>
            </li>
          )}
        </ul>
      </div>
    </search>
  );
}
