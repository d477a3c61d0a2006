import type { FunctionComponent } from "preact";
import { useState } from "preact/hooks";
import type { BotDialogProps } from "./bot-dialog.tsx";

/** Opens the dialog to use the shown view in a bot. */
export function BotButton({ query }: Pick<BotDialogProps, "query">) {
  const [Dialog, setDialog] = useState<FunctionComponent<BotDialogProps>>();
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    setOpen(true);
    // Few visitors need it, so it is not part of the first load.
    import("./bot-dialog.tsx").then(
      ({ BotDialog }) => setDialog(() => BotDialog),
      () => setOpen(false),
    );
  };
  return (
    <>
      <button type="button" class="primary" onClick={open}>
        Use in a bot
      </button>
      {isOpen && Dialog && <Dialog query={query} onClose={() => setOpen(false)} />}
    </>
  );
}
