/** Finds secrets in requests and responses, by the names of their fields. */
import type { Answer } from '../end-to-end/api-harness.ts';

const secretNames = /password|secret|token|^key$|code|uri|cookie/i;
/** The prefix of a secret, which identifies it to people, is not a secret. */
const shownNames = /prefix$/i;

/** Texts in fields with names of secrets. */
export const secretsIn = (value: unknown, name = ''): string[] => {
  if (typeof value === 'string')
    return secretNames.test(name) && !shownNames.test(name) && value.length >= 8 ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => secretsIn(member, Array.isArray(value) ? name : key));
};

/** Values of the cookies that a response sets. */
export const cookiesOf = ({ headers }: Answer): string[] =>
  headers.getSetCookie().flatMap((cookie) => /^[^=]+=([^;]{8,})/.exec(cookie)?.[1] ?? []);
