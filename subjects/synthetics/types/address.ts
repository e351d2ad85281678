/** URLs as checks write them */

/** Returns the host of a URL as written, without brackets; `undefined` if it contains a template. */
export const parseHost = (url: string): string | undefined => {
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
  if (authority.includes('{{') || !URL.canParse(`http://${authority}`)) return undefined;
  return new URL(`http://${authority}`).hostname.replace(/^\[|\]$/g, '');
};

/** Returns the problem of a URL. `schemes` contains allowed schemes such as `http`. */
export const findUrlProblem = (url: string, schemes: readonly string[]): string | undefined => {
  // A variable may contain the entire URL.
  if (url.startsWith('{{')) return undefined;
  const scheme = schemes.find((value) => url.toLowerCase().startsWith(`${value}://`));
  if (scheme === undefined) return `must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  const filledUrl = url.replace(/\{\{[^{}]*\}\}/g, 'x');
  if (!URL.canParse(filledUrl)) return 'is not a valid address';
  const { username, password } = new URL(filledUrl);
  return username === '' && password === '' ? undefined : 'must not contain a user name: use `authentication`';
};
