/** A form field with the error of the API */
import type { ComponentChildren } from 'preact';
import { shownText } from '../frame/shown-text.tsx';

/** Error of a field; rendered empty without one, so that screen readers announce it when it appears. */
export const Wrong = ({ message }: { readonly message: string | undefined }) => (
  <p class="problem-text" role="alert">
    {message === undefined ? '' : shownText(message)}
  </p>
);

/** A label around its field. */
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
    <Wrong message={problem} />
  </div>
);
