import type { OpenApiDocument, OperationContract } from "../contracts/openapi.ts";
import type { ResponseContract } from "../contracts/problem-responses.ts";
import { ANY_PROBLEMS, DOCUMENTS, STREAM_PATH } from "../endpoints.ts";
import { type Html, html, prose } from "./html.ts";
import { pageHtml } from "./layout.ts";
import { keyField, parameterFields } from "./parameter-fields.ts";
import { exampleHtml, schemasHtml, typeHtml } from "./schema-html.ts";

type Responses = OpenApiDocument["components"]["responses"];

/** Renders REST: every path with parameters, responses, problems and a form to try it. */
export function restPage(basePath: string, { info, paths, components }: OpenApiDocument): string {
  const asked = Object.entries(paths).flatMap(([path, { get, post }]) => [
    ...(get ? [{ path, method: "GET", operation: get }] : []),
    ...(post ? [{ path, method: "POST", operation: post }] : []),
  ]);
  const operations = asked.map((one) => operationHtml(basePath, one, components.responses));
  const contents = asked.map(
    ({ path, operation }) =>
      html`<li><a href="#${operation.operationId}"><code>${path}</code></a> ${operation.summary}</li>\n`,
  );
  // Each once, though every operation has them.
  const common = new Map(
    asked.flatMap(({ operation }) =>
      Object.entries(operation.responses)
        .filter(isCommon)
        .flatMap(([status, response]) => ("$ref" in response ? [[response.$ref, status] as const] : [])),
    ),
  );
  const headers = Object.entries(components.headers).map(
    ([name, header]) =>
      html`<tr id="header-${name}"><th scope="row"><code>${name}</code></th><td>${prose(textOf(header))}</td></tr>\n`,
  );
  const body = html`<h1>REST</h1>
${introHtml(info.description)}
<form aria-label="Key">${keyField()}</form>
<nav aria-label="Addresses"><ul class="contents">
${contents}</ul></nav>
${operations}
<section aria-labelledby="problems"><h2 id="problems">Problems that any address can answer</h2>
<div class="wide"><table class="fields"><tbody>${[...common].map(([ref, status]) => responseHtml(status, { $ref: ref }, components.responses))}</tbody></table></div></section>
<section aria-labelledby="headers"><h2 id="headers">Header fields of answers</h2>
<div class="wide"><table class="fields"><tbody>${headers}</tbody></table></div></section>
${schemasHtml(components.schemas)}`;
  return pageHtml(basePath, "docs", "REST", body);
}

export function introHtml(description: string): Html {
  const [first = "", ...points] = description.split("\n").filter((line) => line !== "");
  return html`<p>${prose(first)}</p>
<ul>${points.map((point) => html`<li>${prose(point.replace(/^\* /, ""))}</li>\n`)}</ul>`;
}

interface Asked {
  readonly path: string;
  readonly method: string;
  readonly operation: OperationContract;
}

function operationHtml(basePath: string, { path, method, operation }: Asked, named: Responses): Html {
  const { operationId, summary, description, parameters = [] } = operation;
  const responses = Object.entries(operation.responses);
  return html`<article aria-labelledby="${operationId}"><h2 id="${operationId}"><span class="method">${method}</span> <code>${basePath}${path}</code></h2>
<p>${prose(summary)}</p>
${description === undefined ? html`` : html`<p>${prose(description)}</p>`}
${tryHtml({ address: `${basePath}${path}`, method }, operationId, parameters, path === STREAM_PATH ? `${basePath}${DOCUMENTS.docsEvents.path}` : undefined)}
<h3>Answers</h3>
<div class="wide"><table class="fields"><tbody>${responses.filter((one) => !isCommon(one)).map((one) => responseHtml(...one, named))}</tbody></table></div>
<p><a href="#problems">Problems that any address can answer</a></p>
</article>
`;
}

function tryHtml(
  { address, method }: { address: string; method: string },
  id: string,
  parameters: OperationContract["parameters"],
  elsewhere: string | undefined,
): Html {
  const fields = parameterFields(id, parameters ?? []);
  if (elsewhere !== undefined)
    return html`<p><a href="${elsewhere}#try">Try it on the page of events.</a></p>`;
  return html`<form class="try" data-method="${method}" data-address="${address}" aria-label="Try ${address}">
${fields}<p><button type="submit">Try</button> <button type="button" data-cancel hidden>Cancel</button> <output role="status"></output></p>
<pre tabindex="0" hidden></pre>
</form>`;
}

function responseHtml(
  status: string,
  response: ResponseContract | { readonly $ref: string },
  named: Responses,
): Html {
  const found = "$ref" in response ? named[nameOf(response.$ref)] : response;
  if (!found) return html``;
  const { description, headers = {}, content = {} } = found;
  const bodies = Object.entries(content).map(([type, { schema, example, examples }]) => {
    const shown = example ?? Object.values(examples ?? {})[0]?.value;
    return html`<p><code>${type}</code> ${typeHtml(schema)}</p>${shown === undefined ? html`` : exampleHtml(shown)}`;
  });
  const fields = Object.keys(headers).map(
    (name) => html`<a href="#header-${name}"><code>${name}</code></a> `,
  );
  return html`<tr><th scope="row">${status}</th><td>${prose(description)}${bodies}${fields.length > 0 ? html`<p>${fields}</p>` : html``}</td></tr>\n`;
}

function isCommon([, response]: readonly [string, OperationContract["responses"][string]]): boolean {
  return "$ref" in response && isAnyProblem(nameOf(response.$ref));
}

function nameOf(ref: string): string {
  return ref.split("/").at(-1) ?? "";
}

function isAnyProblem(name: string): boolean {
  return ANY_PROBLEMS.some((code) => code === name);
}

function textOf(header: object): string {
  return "description" in header ? String(header.description) : "";
}
