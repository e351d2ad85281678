/** Numbered section of a long form: a card whose fields belong together. */
import type { ComponentChildren } from 'preact';

export const FormStep = ({
  number,
  title,
  hasColumns = false,
  children,
}: {
  readonly number: number;
  readonly title: string;
  /** Whether short fields share a row */
  readonly hasColumns?: boolean;
  readonly children: ComponentChildren;
}) => (
  <fieldset class={`form-step${hasColumns ? ' columns' : ''}`}>
    <legend>
      <span class="form-step-number" aria-hidden="true">
        {number}
      </span>
      {title}
    </legend>
    {children}
  </fieldset>
);
