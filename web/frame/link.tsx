/** Links within the page, which load nothing anew. */
import type { ComponentChildren } from 'preact';
import { go } from './address.ts';

export const Link = ({
  to,
  isCurrent = false,
  children,
}: {
  readonly to: string;
  readonly isCurrent?: boolean;
  readonly children: ComponentChildren;
}) => (
  <a
    href={to}
    aria-current={isCurrent ? 'page' : undefined}
    onClick={(event) => {
      // A new tab or window is the browser's.
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      go(to);
    }}
  >
    {children}
  </a>
);
