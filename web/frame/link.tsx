/** Links within the page without a reload */
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
      // The browser handles new tabs and windows.
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      go(to);
    }}
  >
    {children}
  </a>
);
