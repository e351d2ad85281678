/** A scrollable region with keyboard support */
import type { ComponentChildren } from 'preact';

export const Scrolled = ({
  label,
  class: name,
  children,
}: {
  readonly label: string;
  readonly class: string;
  readonly children: ComponentChildren;
}) => (
  <section class={name} tabIndex={0} aria-label={label}>
    {children}
  </section>
);
