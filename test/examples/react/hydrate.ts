import { createElement, StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { FlaresPage } from "./flares-page.ts";

/* The page's script. The page's URL has the flare server as its query, and the key after "#". */

const server = decodeURIComponent(location.search.slice(1));
const apiKey = location.hash.slice(1) || undefined;
const root = document.getElementById("root");
if (root) hydrateRoot(root, createElement(StrictMode, null, createElement(FlaresPage, { server, apiKey })));
