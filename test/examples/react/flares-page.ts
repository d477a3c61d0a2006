import { createElement, useState } from "react";
import { useFlares } from "../../../examples/use-flares.ts";

interface Props {
  readonly server: string;
  readonly apiKey?: string | undefined;
}

/** Two components that use the hook, and a button that removes and restores both. */
export function FlaresPage({ server, apiKey }: Props) {
  const [isShown, setIsShown] = useState(true);
  const parts = isShown
    ? [
        createElement(List, { server, apiKey, key: "list" }),
        createElement(State, { server, apiKey, key: "state" }),
      ]
    : [];
  return createElement(
    "main",
    null,
    createElement("button", { type: "button", onClick: () => setIsShown(!isShown) }, "show or hide"),
    parts,
  );
}

function List({ server, apiKey }: Props) {
  const { flares, explanations } = useFlares(server, apiKey);
  const items = flares.map(({ id, token }) =>
    createElement("li", { key: id }, `${token.symbol} ${explanations[id]?.score}`),
  );
  return createElement("ul", null, items);
}

function State({ server, apiKey }: Props) {
  const { flares, connection, reason, source } = useFlares(server, apiKey);
  return createElement("output", null, `${flares.length} ${connection} ${source} ${reason}`.trim());
}
