import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { GROUP_FACTS, GROUPS, type GroupName } from "../../../base/model/groups.ts";
import { tokenOf } from "../../../base/model/key-of.ts";
import { shortAddress } from "../../../base/model/token-key.ts";
import type { View } from "../../sdk/index.ts";
import { tokenHash } from "../route.ts";
import { UntrustedText } from "./untrusted-text.tsx";

const MAX_FOUND = 8;
/** A whole address, whose page exists even if no list has the token. */
const ADDRESS = /^0x[0-9a-f]{40}$/i;

interface Found {
  readonly group: GroupName;
  readonly key: string;
  readonly symbol: string;
  readonly name: string;
}

/**
 * Finds a token of any group by its symbol, name or address. `/` and Ctrl-K move the focus here.
 */
export function Search({ view }: { readonly view: View | undefined }) {
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLElement>(null);
  const wanted = text.trim().toLowerCase();
  const found = useMemo(() => (view && wanted !== "" ? findTokens(view, wanted) : []), [view, wanted]);
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

/** Returns the tokens of all present lists that match, those that begin with the text first. */
function findTokens(view: View, wanted: string): readonly Found[] {
  const found = new Map<string, Found>();
  const add = (
    group: GroupName,
    item: Parameters<typeof tokenOf>[0] & { readonly token: { readonly symbol: string } },
  ) => {
    const key = tokenOf(item);
    const { token } = item;
    const name = "name" in token ? String(token.name) : "";
    const matches = [token.symbol, name, key].some((text) => text.toLowerCase().includes(wanted));
    if (matches && !found.has(`${group} ${key}`))
      found.set(`${group} ${key}`, { group, key, symbol: token.symbol, name });
  };
  const { pro = [], free = [], finished_trending = [] } = view.flares ?? {};
  for (const flare of [...pro, ...free, ...finished_trending]) add("bsc", flare);
  for (const listing of view.newest?.bsc ?? []) add("bsc", listing);
  for (const group of GROUPS) {
    for (const item of view.charts?.[group] ?? []) add(group, "flare" in item ? item.flare : item);
    for (const entry of view.leaderboards?.[group] ?? [])
      add(group, entry.type === "flare" ? entry.object : { token: entry.object });
  }
  if (found.size === 0 && ADDRESS.test(wanted))
    return [{ group: "bsc", key: wanted, symbol: shortAddress(wanted), name: "this address" }];
  const begins = ({ symbol }: Found) => (symbol.toLowerCase().startsWith(wanted) ? 0 : 1);
  return [...found.values()].toSorted((a, b) => begins(a) - begins(b)).slice(0, MAX_FOUND);
}
