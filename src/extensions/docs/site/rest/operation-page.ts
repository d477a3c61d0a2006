import { ANY_PROBLEMS, type HeaderContract, STREAM_PATH } from "../../../../gateway/http/index.ts";
import { type Html, html, prose } from "../../../pages/index.ts";
import type { OpenApiDocument, OperationContract } from "../../contracts/openapi.ts";
import type { ResponseContract } from "../../contracts/problem-responses.ts";
import { referredTo } from "../../contracts/schemas.ts";
import { DOCUMENTS } from "../documents.ts";
import { pageHtml, type Site } from "../layout.ts";
import { keyField, parameterFields } from "../parameter-fields.ts";
import { exampleHtml, schemasHtml, typeHtml } from "../schema-html.ts";
import type { DescribedOperation } from "./operations.ts";
import { samplesHtml } from "./samples.ts";

type Responses = OpenApiDocument["components"]["responses"];

/** Renders an operation: a form to try it, samples, its responses, and their schemas. */
export function operationPage(site: Site, operation: DescribedOperation, document: OpenApiDocument): string {
  const { basePath } = site;
  const { page, route, contract } = operation;
  const { path, method } = route;
  const { summary, description } = contract;
  const { responses: named, schemas, headers } = document.components;
  const responses = Object.entries(contract.responses).filter((one) => !isCommon(one));
  const rows = responses.map((one) => responseHtml(...one, named));
  const used = referredTo(schemas, [
    responses,
    contract.parameters ?? [],
    ...responses.map(([, one]) => resolved(one, named)),
  ]);
  const shown = Object.entries(headers).filter(([header]) =>
    rows.some(({ markup }) => markup.includes(`href="#header-${header}"`)),
  );
  const body = html`<h1><span class="method">${method}</span> <code>${basePath}${path}</code></h1>
<p>${prose(summary)}</p>
${description === undefined ? html`` : html`<p>${prose(description)}</p>`}
<h2 id="try">Try</h2>
${tryHtml(basePath, operation)}
<h2 id="samples">Samples</h2>
${samplesHtml(site, route)}
<h2 id="responses">Responses</h2>
<div class="wide"><table class="fields"><tbody>${rows}</tbody></table></div>
<p><a href="${basePath}${DOCUMENTS.docs.path}#problems">Problems that any path can return</a></p>
${shown.length === 0 ? html`` : headersHtml(shown)}
${Object.keys(used).length === 0 ? html`` : schemasHtml(used)}`;
  return pageHtml(site, page, `${method} ${path}`, body);
}

export function headersHtml(headers: readonly (readonly [string, HeaderContract])[]): Html {
  const rows = headers.map(
    ([name, { description }]) =>
      html`<tr id="header-${name}"><th scope="row"><code>${name}</code></th><td>${prose(description)}</td></tr>\n`,
  );
  return html`<section aria-labelledby="headers"><h2 id="headers">Header fields of responses</h2>
<div class="wide"><table class="fields"><tbody>${rows}</tbody></table></div></section>`;
}

/** Shows the response above the optional parameters, because most calls need none. */
function tryHtml(
  basePath: string,
  { route: { path, method }, contract: { operationId, parameters = [] } }: DescribedOperation,
): Html {
  if (path === STREAM_PATH)
    return html`<p><a href="${basePath}${DOCUMENTS.docsEvents.path}#try">Try it on the Events page.</a></p>`;
  const address = `${basePath}${path}`;
  // The path needs its parts. The other parameters are optional, so they are folded away.
  const needed = parameters.filter((parameter) => parameter.in === "path");
  const others = parameters.filter((parameter) => parameter.in !== "path");
  return html`<form class="try" data-method="${method}" data-address="${address}" aria-label="Try ${address}">
${parameterFields(operationId, needed)}<p><button type="submit">Try</button> <button type="button" data-cancel hidden>Cancel</button> <output role="status"></output></p>
<pre tabindex="0" hidden></pre>
<details data-fields hidden><summary>Request and header fields</summary><pre tabindex="0"></pre></details>
<details><summary>${others.length === 0 ? "Key" : "Parameters and key"}</summary>
${parameterFields(operationId, others)}${keyField(html`The samples then contain it, and this page sends it in <code>Authorization</code>.`)}</details>
</form>`;
}

function resolved(response: ResponseContract | { readonly $ref: string }, named: Responses) {
  return "$ref" in response ? named[nameOf(response.$ref)] : response;
}

export function responseHtml(
  status: string,
  response: ResponseContract | { readonly $ref: string },
  named: Responses,
): Html {
  const found = resolved(response, named);
  if (!found) return html``;
  const { description, headers = {}, content = {} } = found;
  const bodies = Object.entries(content).map(([type, { schema, example, examples }]) => {
    const isMain = status === "200";
    const all = example === undefined ? Object.values(examples ?? {}).map(({ value }) => value) : [example];
    const shown = all.slice(0, isMain ? all.length : 1).map((one) => exampleHtml(one, isMain));
    return html`<p><code>${type}</code> ${typeHtml(schema)}</p>${shown}`;
  });
  const fields = Object.keys(headers).map(
    (name) => html`<a href="#header-${name}"><code>${name}</code></a> `,
  );
  return html`<tr><th scope="row">${status}</th><td>${prose(description)}${bodies}${fields.length > 0 ? html`<p>${fields}</p>` : html``}</td></tr>\n`;
}

export function isCommon([, response]: readonly [string, OperationContract["responses"][string]]): boolean {
  return "$ref" in response && ANY_PROBLEMS.some((code) => code === nameOf(response.$ref));
}

function nameOf(ref: string): string {
  return ref.split("/").at(-1) ?? "";
}
