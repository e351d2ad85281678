/** Links within the page without a reload */
import type { ComponentChildren } from 'preact';
import { navigate } from './address.ts';

export const Link = ({
  url,
  isCurrent = false,
  children,
}: {
  readonly url: string;
  readonly isCurrent?: boolean;
  readonly children: ComponentChildren;
}) => (
  <a
    href={url}
    aria-current={isCurrent ? 'page' : undefined}
    onClick={(event) => {
      // The browser handles new tabs and windows.
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      navigate(url);
    }}
  >
    {children}
  </a>
);
