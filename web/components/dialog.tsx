/** Modal dialog. Escape and a click on the backdrop close it; the focus returns to where it was. */
import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { IconButton } from './button.tsx';

export const Dialog = ({
  title,
  onClose,
  actions,
  children,
}: {
  readonly title: ComponentChildren;
  readonly onClose: () => void;
  /** Buttons at the end, the primary one last */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes a dialog on Escape
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="dialog-content">
        <header>
          <h2 id={titleId}>{title}</h2>
          <IconButton label="Close" icon={X} onClick={() => dialog.current?.close()} />
        </header>
        <div class="dialog-body">{children}</div>
        {actions === undefined ? null : <footer>{actions}</footer>}
      </div>
    </dialog>
  );
};
