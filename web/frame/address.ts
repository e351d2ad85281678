/** The URL has the state of the page: any browser with the same URL displays the same view */
import { computed, signal } from '@preact/signals';

const currentUrl = signal(new URL(location.href));

addEventListener('popstate', () => {
  currentUrl.value = new URL(location.href);
});

const withoutTrailingSlashes = (text: string): string => {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
};

/** Path without a trailing slash */
export const path = computed(() => withoutTrailingSlashes(currentUrl.value.pathname) || '/');

/** Returns a decoded segment of the path, from 0; empty if it is missing or malformed. */
export const readPathName = (index: number): string => {
  try {
    return decodeURIComponent(path.value.split('/')[index + 1] ?? '');
  } catch {
    return '';
  }
};

/** Returns a query parameter of the URL; empty if it is missing. */
export const readParam = (name: string): string => currentUrl.value.searchParams.get(name) ?? '';

/** Returns all values of a query parameter. */
export const readAllParams = (name: string): readonly string[] => currentUrl.value.searchParams.getAll(name);

/** Part of the URL after `#`, which browsers do not send to the server */
export const fragment = computed(() => currentUrl.value.hash.slice(1));

/** Query parameters by name; a list for several values */
export type UrlParams = Readonly<Record<string, string | readonly string[]>>;

/** Returns the URL with changed parameters. Empty parameters are removed. */
export const toChangedUrl = (values: UrlParams, pathname?: string): string => {
  const url = new URL(currentUrl.value);
  if (pathname !== undefined) url.pathname = pathname;
  for (const [name, value] of Object.entries(values)) {
    url.searchParams.delete(name);
    if (typeof value !== 'string') for (const item of value) url.searchParams.append(name, item);
    else if (value !== '') url.searchParams.set(name, value);
  }
  return url.pathname + url.search;
};

/** Navigates to a URL of the page. `replace` creates no history entry. */
export const navigate = (url: string, { replace = false }: { readonly replace?: boolean } = {}): void => {
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  currentUrl.value = new URL(location.href);
};

/** Changes query parameters of the URL. */
export const setParams = (values: UrlParams, options?: { readonly replace?: boolean }): void =>
  navigate(toChangedUrl(values), options);

/** Returns the URL of another area. Of the current parameters, only time range and project are preserved. */
export const toArea = (pathname: string, values: Readonly<Record<string, string>> = {}): string => {
  const params = new URLSearchParams();
  for (const name of ['from', 'to', 'project']) if (readParam(name) !== '') params.set(name, readParam(name));
  for (const [name, value] of Object.entries(values)) if (value !== '') params.set(name, value);
  return params.size === 0 ? pathname : `${pathname}?${params}`;
};

/** Follows links with `data-page-link` without a reload. The browser handles new tabs and windows. */
const followLink = (event: MouseEvent): void => {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target instanceof Element ? event.target.closest('a[data-page-link]') : null;
  const url = link?.getAttribute('href');
  if (url === null || url === undefined) return;
  event.preventDefault();
  navigate(url);
};

addEventListener('click', followLink);
