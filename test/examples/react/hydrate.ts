import { createElement, StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { FlaresPage } from "./flares-page.ts";

/* What the page runs: its address has the server of flares, and the key after "#". */

const server = decodeURIComponent(location.search.slice(1));
const apiKey = location.hash.slice(1) || undefined;
const root = document.getElementById("root");
if (root) hydrateRoot(root, createElement(StrictMode, null, createElement(FlaresPage, { server, apiKey })));
