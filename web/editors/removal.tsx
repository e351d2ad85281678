/** Deletes the open resource after a second click as confirmation */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Action } from '../client/action.ts';
import { ActionForm } from '../frame/action-form.tsx';
import { refresh } from '../frame/time-range.ts';

export const RemovalForm = ({
  action,
  labels: [first, second],
  remove,
  onRemoved,
  children,
}: {
  readonly action: Pick<Action<never>, 'isRunning' | 'error'>;
  readonly labels: readonly [first: string, second: string];
  /** Resolves to `undefined` if the deletion was rejected */
  readonly remove: () => Promise<unknown>;
  readonly onRemoved: () => void;
  readonly children?: ComponentChildren;
}) => {
  const [isConfirming, setConfirming] = useState(false);
  const run = async (): Promise<void> => {
    if (!isConfirming) return setConfirming(true);
    if ((await remove()) === undefined) return;
    onRemoved();
    refresh();
  };
  return (
    <ActionForm action={action} label={isConfirming ? second : first} onSubmit={run}>
      {children}
    </ActionForm>
  );
};
