/** Addresses with a scheme, as checks write them. */

/** Host of an address as it is written, without brackets; undefined where a template stands in it. */
export const hostIn = (url: string): string | undefined => {
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
  if (authority.includes('{{') || !URL.canParse(`http://${authority}`)) return undefined;
  return new URL(`http://${authority}`).hostname.replace(/^\[|\]$/g, '');
};

/** What is wrong with an address. `schemes` are such as `http`. */
export const urlProblem = (url: string, schemes: readonly string[]): string | undefined => {
  // Whole addresses may be variables.
  if (url.startsWith('{{')) return undefined;
  const scheme = schemes.find((one) => url.toLowerCase().startsWith(`${one}://`));
  if (scheme === undefined) return `must begin with ${schemes.map((one) => `${one}://`).join(' or ')}`;
  const filled = url.replace(/\{\{[^{}]*\}\}/g, 'x');
  if (!URL.canParse(filled)) return 'is no address';
  const { username, password } = new URL(filled);
  return username === '' && password === '' ? undefined : 'must not contain a user name: take `authentication`';
};
