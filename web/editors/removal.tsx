/** Button that deletes the open resource; a second click confirms */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Action } from '../client/action.ts';
import type { ButtonKind } from '../components/button.tsx';
import { ActionForm } from '../frame/action-form.tsx';
import { refresh } from '../frame/time-range.ts';

export const RemovalForm = ({
  action,
  labels: [initialLabel, confirmLabel],
  kind = 'danger',
  remove,
  onRemoved,
  children,
}: {
  readonly action: Pick<Action<never>, 'isRunning' | 'error'>;
  readonly labels: readonly [first: string, second: string];
  /** Kind of the first button */
  readonly kind?: ButtonKind;
  /** Resolves to `undefined` if the deletion was rejected */
  readonly remove: () => Promise<unknown>;
  readonly onRemoved: () => void;
  readonly children?: ComponentChildren;
}) => {
  const [isConfirming, setIsConfirming] = useState(false);
  const confirmOrRemove = async (): Promise<void> => {
    if (!isConfirming) return setIsConfirming(true);
    if ((await remove()) === undefined) return;
    onRemoved();
    refresh();
  };
  return (
    <ActionForm
      action={action}
      label={isConfirming ? confirmLabel : initialLabel}
      kind={isConfirming ? 'danger' : kind}
      onSubmit={confirmOrRemove}
    >
      {children}
      {isConfirming ? (
        <button type="button" class="plain" onClick={() => setIsConfirming(false)}>
          Cancel
        </button>
      ) : null}
    </ActionForm>
  );
};
