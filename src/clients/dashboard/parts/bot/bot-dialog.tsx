import { useState } from "preact/hooks";
import type { FlareQuery } from "../../state/flare-query.ts";
import { access, server } from "../../state/store.ts";
import { Segments } from "../segments.tsx";
import { botSamples, describeQuery, SAMPLE_KINDS, type SampleKind } from "./bot-samples.ts";
import { CodeSample, Sheet } from "./sheet.tsx";

export interface BotDialogProps {
  /** The view on the screen. */
  readonly query: FlareQuery;
  readonly onClose: () => void;
}

/** The flares on the screen as commands and programs to copy. */
export function BotDialog({ onClose, query }: BotDialogProps) {
  return (
    <Sheet title="Use in a bot" onClose={onClose}>
      <BotSamples query={query} />
    </Sheet>
  );
}

/** Describes the view, and has a command or program for it in each language. */
export function BotSamples({ query }: Pick<BotDialogProps, "query">) {
  const [kind, setKind] = useState<SampleKind>("curl");
  const samples = botSamples(query, server.value, access.value?.plan !== undefined);
  return (
    <>
      <p>{describeQuery(query)}</p>
      <Segments
        legend="Language"
        name="sample"
        options={SAMPLE_KINDS}
        chosen={kind}
        onChoose={setKind}
        label={(name) => samples[name].title}
      />
      <CodeSample key={kind} {...samples[kind]} />
    </>
  );
}
