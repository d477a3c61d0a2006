import type { EventMessage } from "../../../sdk/index.ts";
import { CodeSample } from "./code-sample.tsx";
import { Sheet } from "./sheet.tsx";

export interface EventSheetProps {
  readonly event: EventMessage;
  readonly onClose: () => void;
}

/** One event as a bot receives it. */
export function EventSheet({ event, onClose }: EventSheetProps) {
  return (
    <Sheet title={event.name} onClose={onClose}>
      <CodeSample text={JSON.stringify(event, undefined, 2)} note="As a bot receives it." />
    </Sheet>
  );
}
