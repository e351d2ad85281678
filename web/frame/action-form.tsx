/** Fields, a button that does something with them, and why that was refused. */
import type { ComponentChildren } from 'preact';
import type { Action } from '../client/action.ts';
import { Problem } from './freshness.tsx';

export const ActionForm = ({
  action,
  label,
  onSubmit,
  message,
  children,
}: {
  readonly action: Pick<Action<never>, 'isRunning' | 'error'>;
  /** Of the button. */
  readonly label: string;
  readonly onSubmit: (form: HTMLFormElement) => Promise<void>;
  /** What came of it, where that is told in words. */
  readonly message?: string;
  readonly children: ComponentChildren;
}) => (
  <form
    class="act"
    onSubmit={(event) => {
      event.preventDefault();
      void onSubmit(event.currentTarget);
    }}
  >
    {children}
    <button type="submit" disabled={action.isRunning.value}>
      {label}
    </button>
    {message === undefined ? null : (
      <p class="soft" role="status">
        {message}
      </p>
    )}
    <Problem error={action.error.value} />
  </form>
);
