import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { FlaresPage } from "./flares-page.ts";

/* What a server that renders runs: prints the page, and ends as soon as nothing is open. */

process.stdout.write(renderToString(createElement(FlaresPage, { server: process.argv[2] ?? "" })));
