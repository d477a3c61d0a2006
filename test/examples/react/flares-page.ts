import { createElement, useState } from "react";
import { useFlares } from "../../../examples/use-flares.ts";

/** Two components that use the hook, and a button that takes both away and brings them back. */
export function FlaresPage({ server }: { readonly server: string }) {
  const [isShown, setIsShown] = useState(true);
  const parts = isShown
    ? [createElement(List, { server, key: "list" }), createElement(State, { server, key: "state" })]
    : [];
  return createElement(
    "main",
    null,
    createElement("button", { type: "button", onClick: () => setIsShown(!isShown) }, "show or hide"),
    parts,
  );
}

function List({ server }: { readonly server: string }) {
  const { flares, explanations } = useFlares(server);
  const items = flares.map(({ id, token }) =>
    createElement("li", { key: id }, `${token.symbol} ${explanations[id]?.score}`),
  );
  return createElement("ul", null, items);
}

function State({ server }: { readonly server: string }) {
  const { flares, connection, reason, source } = useFlares(server);
  return createElement("output", null, `${flares.length} ${connection} ${source} ${reason}`.trim());
}
