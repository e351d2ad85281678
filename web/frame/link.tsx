/** Links within the page; `address.ts` follows them without a reload. */
import type { ComponentChildren } from 'preact';

export const Link = ({
  url,
  isCurrent = false,
  children,
}: {
  readonly url: string;
  readonly isCurrent?: boolean;
  readonly children: ComponentChildren;
}) => (
  <a href={url} data-page-link aria-current={isCurrent ? 'page' : undefined}>
    {children}
  </a>
);
