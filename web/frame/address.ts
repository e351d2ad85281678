/** The URL is the state of the page: another browser with the same URL displays the same */
import { computed, signal } from '@preact/signals';

const current = signal(new URL(location.href));

addEventListener('popstate', () => {
  current.value = new URL(location.href);
});

const withoutTrailingSlashes = (text: string): string => {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
};

/** Path without a trailing slash */
export const path = computed(() => withoutTrailingSlashes(current.value.pathname) || '/');

/** Returns a query parameter of the URL; empty if it is missing. */
export const inAddress = (name: string): string => current.value.searchParams.get(name) ?? '';

/** Returns all values of a query parameter. */
export const allInAddress = (name: string): readonly string[] => current.value.searchParams.getAll(name);

/** Part of the URL after `#`, which is not sent to a server */
export const fragment = computed(() => current.value.hash.slice(1));

/** Query parameters by name; several values as a list */
export type AddressValues = Readonly<Record<string, string | readonly string[]>>;

/** Returns the URL with changed parameters; empty ones are omitted. */
export const addressWith = (values: AddressValues, pathname?: string): string => {
  const url = new URL(current.value);
  if (pathname !== undefined) url.pathname = pathname;
  for (const [name, value] of Object.entries(values)) {
    url.searchParams.delete(name);
    if (typeof value !== 'string') for (const each of value) url.searchParams.append(name, each);
    else if (value !== '') url.searchParams.set(name, value);
  }
  return url.pathname + url.search;
};

/** Navigates to a URL of the page. `replace` creates no history entry. */
export const go = (address: string, { replace = false }: { readonly replace?: boolean } = {}): void => {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  current.value = new URL(location.href);
};

/** Changes query parameters of the URL. */
export const change = (values: AddressValues, options?: { readonly replace?: boolean }): void =>
  go(addressWith(values), options);

/** Returns the URL of another area. The time range and project are preserved; other parameters are not. */
export const toArea = (pathname: string, values: Readonly<Record<string, string>> = {}): string => {
  const params = new URLSearchParams();
  for (const name of ['from', 'to', 'project']) if (inAddress(name) !== '') params.set(name, inAddress(name));
  for (const [name, value] of Object.entries(values)) if (value !== '') params.set(name, value);
  return params.size === 0 ? pathname : `${pathname}?${params}`;
};
