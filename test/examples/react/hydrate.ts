import { createElement, StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { FlaresPage } from "./flares-page.ts";

/* What the page runs: the server of flares stands in its address. */

const server = decodeURIComponent(location.search.slice(1));
const root = document.getElementById("root");
if (root) hydrateRoot(root, createElement(StrictMode, null, createElement(FlaresPage, { server })));
