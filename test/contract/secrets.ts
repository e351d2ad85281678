/** Finds secrets in requests and answers, by the names under which they stand. */
import type { Answer } from '../end-to-end/api-harness.ts';

const secretNames = /password|secret|token|^key$|code|uri|cookie/i;
/** The first letters of a secret, by which people recognise it, are none. */
const shownNames = /prefix$/i;

/** Texts under names that say that they are secret. */
export const secretsIn = (value: unknown, name = ''): string[] => {
  if (typeof value === 'string')
    return secretNames.test(name) && !shownNames.test(name) && value.length >= 8 ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => secretsIn(member, Array.isArray(value) ? name : key));
};

/** Values of the cookies that an answer sets. */
export const cookiesOf = ({ headers }: Answer): string[] =>
  headers.getSetCookie().flatMap((cookie) => /^[^=]+=([^;]{8,})/.exec(cookie)?.[1] ?? []);
