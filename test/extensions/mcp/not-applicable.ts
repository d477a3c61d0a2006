/** Scenarios of the official suite, or single checks, by the reason why they do not apply. */
type NotApplicable = Readonly<Record<string, readonly string[]>>;

/** Do not apply even to a server with the suite's tools, prompts and resources. */
const ALWAYS: NotApplicable = {
  "The server asks the client during a call, which needs a session in the protocol of 2025.": [
    ...["tools-call-sampling", "tools-call-elicitation"],
    ...["elicitation-sep1034-defaults", "elicitation-sep1330-enums"],
  ],
  "The client subscribes to a resource, which needs a session in the protocol of 2025.": [
    ...["resources-subscribe", "resources-unsubscribe"],
  ],
  "The suite warns that the server has no sessions, which are optional.": [
    ...["server-sse-polling", "server-sse-multiple-streams:server-sse-multiple-streams-session"],
  ],
  "The client changes a tool's request state. Flarewire's tools request no input and have no such state.": [
    "input-required-result-tampered-state",
  ],
};

/** Do not apply to Flarewire, which has only tools, and these only read data and return text. */
const TO_FLAREWIRE: NotApplicable = {
  "The scenario calls a tool of the suite.": [
    ...["tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource"],
    ...["tools-call-mixed-content", "tools-call-error", "json-schema-2020-12"],
    "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
  ],
  "No tool takes so long that it reports progress or writes a log for the agent.": [
    ...["tools-call-with-progress", "tools-call-with-logging", "logging-set-level"],
    "server-stateless:sep-2575-server-no-log-without-loglevel",
  ],
  "No tool asks the agent for input, or needs a capability of its client.": [
    "server-stateless:sep-2575-server-rejects-undeclared-capability",
    "server-stateless:sep-2575-missing-capability-http-400",
    ...[
      ...["basic-elicitation", "basic-sampling", "basic-list-roots", "request-state", "multi-round"],
      ...["multiple-input-requests", "non-tool-request", "result-type", "capability-check"],
      ...["missing-input-response", "ignore-extra-params"],
    ].map((name) => `input-required-result-${name}`),
  ],
  "No tool takes an argument from an HTTP header.": ["http-custom-header-server-validation"],
  "There are no prompts, and nothing to complete.": [
    ...["prompts-list", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource"],
    ...["prompts-get-with-image", "completion-complete", "caching:sep-2549-prompts-list-caching-hints"],
  ],
  "There are no resources.": [
    ...["resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read"],
    ...["sep-2164-resource-not-found:sep-2164-error-code", "sep-2164-resource-not-found:sep-2164-data-uri"],
    "caching:sep-2549-resources-list-caching-hints",
    "caching:sep-2549-resources-templates-list-caching-hints",
  ],
};

export const NOT_APPLICABLE = { fixtures: ALWAYS, flarewire: { ...ALWAYS, ...TO_FLAREWIRE } };
