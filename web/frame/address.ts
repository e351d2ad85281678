/** The address is the state of the page: what another browser opens shows the same. */
import { computed, signal } from '@preact/signals';

const current = signal(new URL(location.href));

addEventListener('popstate', () => {
  current.value = new URL(location.href);
});

/** The path, without a slash at the end. */
export const path = computed(() => current.value.pathname.replace(/\/+$/, '') || '/');

/** A value of the address; empty where it has none. */
export const inAddress = (name: string): string => current.value.searchParams.get(name) ?? '';

/** All that the address has of a name. */
export const allInAddress = (name: string): readonly string[] => current.value.searchParams.getAll(name);

/** What is behind `#`: it is sent to no server. */
export const fragment = computed(() => current.value.hash.slice(1));

/** Values of the address by their names; several of a name are a list. */
export type AddressValues = Readonly<Record<string, string | readonly string[]>>;

/** The address with other values; an empty one is left out. */
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

/** Goes to an address of the page. `replace` leaves no step to go back to. */
export const go = (address: string, { replace = false }: { readonly replace?: boolean } = {}): void => {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  current.value = new URL(location.href);
};

/** Changes values of the address. */
export const change = (values: AddressValues, options?: { readonly replace?: boolean }): void =>
  go(addressWith(values), options);

/** An address of another area. The range of time and the project go along, all else is that area's own. */
export const toArea = (pathname: string, values: Readonly<Record<string, string>> = {}): string => {
  const params = new URLSearchParams();
  for (const name of ['from', 'to', 'project']) if (inAddress(name) !== '') params.set(name, inAddress(name));
  for (const [name, value] of Object.entries(values)) if (value !== '') params.set(name, value);
  return params.size === 0 ? pathname : `${pathname}?${params}`;
};
