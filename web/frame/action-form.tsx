/** Form with a submit button, a message and the error of the action */
import type { ComponentChildren } from 'preact';
import type { Action } from '../client/action.ts';
import { ErrorMessage } from './freshness.tsx';

export const ActionForm = ({
  action,
  label,
  onSubmit,
  message,
  isDanger = false,
  children,
}: {
  readonly action: Pick<Action<never>, 'isRunning' | 'error'>;
  /** Label of the button */
  readonly label: string;
  readonly onSubmit: (form: HTMLFormElement) => Promise<void>;
  /** Result of the action */
  readonly message?: string;
  /** Whether the action deletes something */
  readonly isDanger?: boolean;
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
    <button type="submit" class={isDanger ? 'button danger' : ''} disabled={action.isRunning.value}>
      {label}
    </button>
    {message === undefined ? null : (
      <p class="soft" role="status">
        {message}
      </p>
    )}
    <ErrorMessage error={action.error.value} />
  </form>
);
