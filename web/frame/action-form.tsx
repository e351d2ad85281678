/** Form with a submit button, a message and the error of the action */
import type { ComponentChildren } from 'preact';
import type { Action } from '../client/action.ts';
import type { ButtonKind } from '../components/button.tsx';
import { ErrorMessage } from './freshness.tsx';

export const ActionForm = ({
  action,
  label,
  onSubmit,
  message,
  kind = 'primary',
  children,
}: {
  readonly action: Pick<Action<never>, 'isRunning' | 'error'>;
  /** Label of the button */
  readonly label: string;
  readonly onSubmit: (form: HTMLFormElement) => Promise<void>;
  /** Result of the action */
  readonly message?: string;
  /** Kind of the button: danger if the action deletes something */
  readonly kind?: ButtonKind;
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
    <button type="submit" class={kind === 'primary' ? '' : `button ${kind}`} disabled={action.isRunning.value}>
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
