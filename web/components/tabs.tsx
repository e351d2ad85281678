/** Tabs of a view. Each is a link, so a tab has an address and opens in a new window. */
import type { ComponentChildren } from 'preact';

export interface TabLink {
  readonly title: ComponentChildren;
  readonly url: string;
  readonly isCurrent: boolean;
  /** Number of items behind the tab */
  readonly count?: number | undefined;
}

export const Tabs = ({ label, tabs }: { readonly label: string; readonly tabs: readonly TabLink[] }) => (
  <nav class="tabs" aria-label={label}>
    <ul>
      {tabs.map(({ title, url, isCurrent, count }) => (
        <li key={url}>
          <a href={url} data-page-link aria-current={isCurrent ? 'page' : undefined}>
            {title}
            {count === undefined ? null : <span class="tab-count">{count}</span>}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);
