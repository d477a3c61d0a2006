import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { FlaresPage } from "./flares-page.ts";

/* Renders the page as a web server does: prints it, and ends once nothing is open. */

process.stdout.write(renderToString(createElement(FlaresPage, { server: process.argv[2] ?? "" })));
