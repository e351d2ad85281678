/** Scrollable region that can be focused and scrolled with the keyboard */
import type { ComponentChildren } from 'preact';

export const ScrollRegion = ({
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
