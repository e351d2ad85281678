import type { Settings } from '../../schemas/settings.ts';
import { trimTrailing } from '../../schemas/text.ts';

/**
 * Returns a link to the dashboard, for a mail. It starts with the address in the settings, never with an address from a
 * request. The token is in the fragment, which browsers do not send to servers.
 */
export const buildLink = (
  { PUBLIC_URL: publicUrl, HTTP_ADDRESS: address }: Pick<Settings, 'PUBLIC_URL' | 'HTTP_ADDRESS'>,
  page: string,
  token?: string,
): string => {
  const base = trimTrailing(publicUrl ?? `http://${address}`, '/');
  return `${base}/${page}${token === undefined ? '' : `#token=${token}`}`;
};
