import type { Settings } from '../../schemas/settings.ts';
import { withoutTrailing } from '../../schemas/text.ts';

/**
 * A link of a message into the dashboard. It begins with what the settings say, never with what a request claims to have
 * asked; the token stands in the fragment, which browsers send to no server.
 */
export const linkTo = (
  { PUBLIC_URL: publicUrl, HTTP_ADDRESS: address }: Pick<Settings, 'PUBLIC_URL' | 'HTTP_ADDRESS'>,
  page: string,
  token?: string,
): string => {
  const base = withoutTrailing(publicUrl ?? `http://${address}`, '/');
  return `${base}/${page}${token === undefined ? '' : `#token=${token}`}`;
};
