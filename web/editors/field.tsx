/** A field of a form, with what the API said is wrong there. */
import type { ComponentChildren } from 'preact';
import { shownText } from '../frame/shown-text.tsx';

/** What is wrong with a field; empty while nothing is, so that a screen reader tells it when it comes. */
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
  /** What may be written there. */
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
