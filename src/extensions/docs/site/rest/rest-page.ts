import { type Html, html, prose } from "../../../pages/index.ts";
import type { OpenApiDocument } from "../../contracts/openapi.ts";
import { referredTo } from "../../contracts/schemas.ts";
import { pageHtml, type Site } from "../layout.ts";
import { schemasHtml } from "../schema-html.ts";
import { startHtml } from "../start-page.ts";
import { headersHtml, isCommon, responseHtml } from "./operation-page.ts";
import { operationsOf } from "./operations.ts";

/** Renders the start page: the first steps, every path, and what all of them have in common. */
export function restPage(site: Site, document: OpenApiDocument): string {
  const { basePath } = site;
  const described = operationsOf(document, site.contracts);
  const { info, paths, components } = document;
  const operations = described.map(
    ({ page, route: { path, method }, contract }) =>
      html`<tr><th scope="row"><span class="method">${method}</span> <a href="${basePath}${page}"><code>${path}</code></a></th><td>${prose(contract.summary)}</td></tr>\n`,
  );
  const documents = Object.entries(paths).flatMap(([path, { get }]) =>
    get?.tags.includes("documents")
      ? [
          html`<tr><th scope="row"><a href="${basePath}${path}"><code>${path}</code></a></th><td>${prose(get.summary)}</td></tr>\n`,
        ]
      : [],
  );
  // Every operation has these problems; show each once.
  const common = new Map(
    described.flatMap(({ contract }) =>
      Object.entries(contract.responses)
        .filter(isCommon)
        .flatMap(([status, response]) => ("$ref" in response ? [[response.$ref, status] as const] : [])),
    ),
  );
  const problems = [...common].map(([ref, status]) =>
    responseHtml(status, { $ref: ref }, components.responses),
  );
  const used = referredTo(components.schemas, problems.length === 0 ? [] : [components.responses]);
  const body = html`${startHtml(site)}
<section aria-labelledby="addresses"><h2 id="addresses">Addresses</h2>
<div class="wide"><table class="fields"><tbody>${operations}</tbody></table></div></section>
<section aria-labelledby="rules"><h2 id="rules">Rules</h2>
${introHtml(info.description)}</section>
<section aria-labelledby="documents"><h2 id="documents">Documents</h2>
<div class="wide"><table class="fields"><tbody>${documents}</tbody></table></div></section>
<section aria-labelledby="problems"><h2 id="problems">Problems that any path can return</h2>
<div class="wide"><table class="fields"><tbody>${problems}</tbody></table></div></section>
${headersHtml(Object.entries(components.headers))}
${schemasHtml(used)}`;
  return pageHtml(site, "/docs", "Start", body);
}

export function introHtml(description: string): Html {
  const [first = "", ...points] = description.split("\n").filter((line) => line !== "");
  return html`<p>${prose(first)}</p>
<ul>${points.map((point) => html`<li>${prose(point.replace(/^\* /, ""))}</li>\n`)}</ul>`;
}
