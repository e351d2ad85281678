/** Fields, a button that does something with them, and why that was refused. */
import type { ComponentChildren } from 'preact';
import type { Action } from '../client/action.ts';
import type { Declared } from '../client/call.ts';
import { Problem } from './standing.tsx';

export const ActionForm = <Operation extends Declared>({
  action,
  label,
  onSubmit,
  said,
  children,
}: {
  readonly action: Action<Operation>;
  /** Of the button. */
  readonly label: string;
  readonly onSubmit: (form: HTMLFormElement) => Promise<void>;
  /** What came of it, where that is told in words. */
  readonly said?: string;
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
    {said === undefined ? null : (
      <p class="soft" role="status">
        {said}
      </p>
    )}
    <Problem error={action.error.value} />
  </form>
);
