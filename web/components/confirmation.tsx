/** Button of an action that cannot be undone. A dialog names the thing, and only its button runs the action. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import type { IconShape } from './icon.tsx';

export const Confirmation = ({
  label,
  title,
  confirmLabel = label,
  icon,
  isDisabled = false,
  onConfirm,
  children,
}: {
  /** Verb of the button, for example `Delete` */
  readonly label: string;
  /** Question with the name of the thing, for example `Delete the rule “Checkout latency”?` */
  readonly title: ComponentChildren;
  readonly confirmLabel?: string;
  readonly icon?: IconShape;
  readonly isDisabled?: boolean;
  /** Runs the action; the dialog closes once it ends */
  readonly onConfirm: () => unknown;
  /** Consequences */
  readonly children?: ComponentChildren;
}) => {
  const [isOpen, setIsOpen] = useState(false);
  const [isRunning, setIsRunning] = useState(false);
  const confirm = async (): Promise<void> => {
    setIsRunning(true);
    try {
      await onConfirm();
    } finally {
      setIsRunning(false);
      setIsOpen(false);
    }
  };
  return (
    <>
      <Button kind="danger" icon={icon} disabled={isDisabled} onClick={() => setIsOpen(true)}>
        {label}
      </Button>
      {isOpen ? (
        <Dialog
          title={title}
          onClose={() => setIsOpen(false)}
          actions={
            <>
              <Button onClick={() => setIsOpen(false)}>Cancel</Button>
              <Button kind="danger" disabled={isRunning} onClick={() => void confirm()}>
                {confirmLabel}
              </Button>
            </>
          }
        >
          {children ?? 'This cannot be undone.'}
        </Dialog>
      ) : null}
    </>
  );
};
