import { useEffect, useRef, useState } from "preact/hooks";
import { GROUP_FACTS } from "../../../base/model/groups.ts";
import type { View } from "../../sdk/index.ts";
import { tokenHash } from "../route.ts";
import { findTokens } from "../state/find-tokens.ts";
import type { GroupSeen } from "../state/seen.ts";
import { UntrustedText } from "./untrusted-text.tsx";

interface SearchProps {
  readonly view: View | undefined;
  /** The groups whose flares the page follows besides. */
  readonly others: readonly (GroupSeen | undefined)[];
}

/**
 * Finds a token of any group by its symbol, name or address. `/` and Ctrl-K move the focus here.
 */
export function Search({ view, others }: SearchProps) {
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLElement>(null);
  const wanted = text.trim();
  const found = view && wanted !== "" ? findTokens(view, others, wanted) : [];
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
  const leave = () => setText("");
  return (
    <search
      class="search"
      ref={box}
      onKeyDown={({ key }) => {
        if (key === "Escape") leave();
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !box.current?.contains(relatedTarget)) leave();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const [first] = found;
          if (first) location.assign(tokenHash(first.group, first.key));
          leave();
        }}
      >
        <input
          ref={input}
          type="search"
          aria-label="Search any token"
          placeholder="Search any token"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <span class="key-hint" aria-hidden="true">
          /
        </span>
      </form>
      {wanted !== "" && (
        <ul>
          {found.map(({ group, key, symbol, name }) => (
            <li key={`${group} ${key}`}>
              <a href={tokenHash(group, key)} onClick={leave}>
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
          {found.length === 0 && <li class="soft">No token in the present lists has this name.</li>}
        </ul>
      )}
    </search>
  );
}
