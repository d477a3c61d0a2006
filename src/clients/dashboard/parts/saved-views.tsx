import { useState } from "preact/hooks";
import { safeText } from "../../../base/lib/text/safe-text.ts";
import { readStored, writeStored } from "../state/visitor/stored.ts";

/** An address of the page, with the visitor's name for it. */
interface SavedView {
  readonly name: string;
  readonly hash: string;
}

const STORAGE_KEY = "flarewire-views";
const MAX_VIEWS = 20;
const MAX_NAME = 40;

function isView(one: unknown): one is SavedView {
  if (typeof one !== "object" || one === null || !("name" in one) || !("hash" in one)) return false;
  return typeof one.name === "string" && typeof one.hash === "string" && one.hash.startsWith("#/");
}

/** Returns the visitor's views, which only this browser stores. */
function readViews(): readonly SavedView[] {
  const stored = readStored("localStorage", STORAGE_KEY, (text): unknown => JSON.parse(text));
  const views = Array.isArray(stored) ? stored.filter(isView).slice(0, MAX_VIEWS) : [];
  return views.map(({ name, hash }) => ({ name: name.slice(0, MAX_NAME), hash }));
}

/** Views that every visitor has. */
const PRESETS: readonly SavedView[] = [
  { name: "Safer and liquid", hash: "#/now?min_liquidity=50000&warnings=none&order=score" },
  { name: "Rising most", hash: "#/now?order=since" },
  { name: "Possible rugs", hash: "#/finished?cause=canary" },
];

/** Links to named views. Only this browser stores the visitor's own, the latest twenty. */
export function SavedViews({ hash }: { readonly hash: string }) {
  const [saved, setSaved] = useState(readViews);
  const save = (views: readonly SavedView[]) => {
    const latest = views.slice(-MAX_VIEWS);
    writeStored("localStorage", STORAGE_KEY, JSON.stringify(latest));
    setSaved(latest);
  };
  return (
    <form
      class="choice"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const name = String(new FormData(form).get("name") ?? "").trim();
        if (name !== "") save([...saved.filter((view) => view.name !== name), { name, hash }]);
        form.reset();
      }}
    >
      <span>Views</span>
      {[...PRESETS, ...saved].map((view) => (
        <a key={view.hash + view.name} href={view.hash}>
          {safeText(view.name)}
        </a>
      ))}
      <input name="name" maxLength={MAX_NAME} aria-label="Name of this view" placeholder="This view as…" />
      <button type="submit">Save</button>
      {saved.some((view) => view.hash === hash) && (
        <button type="button" onClick={() => save(saved.filter((view) => view.hash !== hash))}>
          Remove
        </button>
      )}
    </form>
  );
}
