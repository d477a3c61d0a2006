/** Scenarios of the official suite, or single checks, by the reason why they do not apply. */
type NotApplicable = Readonly<Record<string, readonly string[]>>;

/** Not even to a server that has the suite's tools, prompts and resources. */
const ALWAYS: NotApplicable = {
  "It asks the client during a call, for which the protocol of 2025 needs a session.": [
    ...["tools-call-sampling", "tools-call-elicitation"],
    ...["elicitation-sep1034-defaults", "elicitation-sep1330-enums"],
  ],
  "It subscribes to a resource, for which the protocol of 2025 needs a session.": [
    ...["resources-subscribe", "resources-unsubscribe"],
  ],
  "It warns that the server has no sessions, which are optional.": [
    ...["server-sse-polling", "server-sse-multiple-streams:server-sse-multiple-streams-session"],
  ],
  "It changes the state of a tool's question. Flarewire asks nothing and protects no such state.": [
    "input-required-result-tampered-state",
  ],
};

/** Flarewire has tools only, and its tools only read and answer with text. */
const TO_FLAREWIRE: NotApplicable = {
  "It calls a tool of the suite.": [
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
  "No tool takes an argument from a header of HTTP.": ["http-custom-header-server-validation"],
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
