/** Form field with its label, hint and validation error */
import type { ComponentChildren } from 'preact';
import { renderText } from '../frame/display-text.tsx';

/** Error of a field, rendered even when empty, because screen readers announce only changes of rendered alerts. */
export const FieldProblem = ({ message }: { readonly message: string | undefined }) => (
  <p class="problem-text" role="alert">
    {message === undefined ? '' : renderText(message)}
  </p>
);

/** Label around a field, with hint and error below */
export const Field = ({
  label,
  problem,
  hint,
  children,
}: {
  readonly label: string;
  readonly problem: string | undefined;
  /** Hint about the expected value */
  readonly hint?: string | undefined;
  readonly children: ComponentChildren;
}) => (
  <div>
    {/* biome-ignore lint/a11y/noLabelWithoutControl: the field is among the children */}
    <label>
      {label} {children}
    </label>
    {hint === undefined ? null : <p class="hint">{hint}</p>}
    <FieldProblem message={problem} />
  </div>
);
