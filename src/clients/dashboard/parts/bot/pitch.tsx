import type { FunctionComponent } from "preact";
import { useState } from "preact/hooks";
import type { BotDialogProps } from "./bot-dialog.tsx";

/** Explains Flarewire in a sentence, and opens the dialog to use the shown view in a bot. */
export function Pitch(props: Omit<BotDialogProps, "onClose">) {
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
    <div class="pitch">
      <p>
        Flarewire sees within about a minute that traders are suddenly piling into a token
        <span class="aside">, says why, and says when it is over</span>.
      </p>
      <button type="button" class="primary" onClick={open}>
        Use this in a bot
      </button>
      {isOpen && Dialog && <Dialog {...props} onClose={() => setOpen(false)} />}
    </div>
  );
}
