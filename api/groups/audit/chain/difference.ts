import { isDeepStrictEqual } from 'node:util';
import type { Difference } from '../../../../schemas/resources/audit-record.ts';

/** Replacement for a secret in a difference */
export const masked = '(secret)';

/** Members that never appear in a difference, in any object. */
const secretNames =
  /password|passphrase|secret|credential|hash$|token$|private_?key|api_?key$|access_?key$|recovery_?codes|^codes$|^authorization$|^cookie$/i;

/** Our own keys and tokens, recognized in any text */
const ownSecrets = /\boiq_[a-z]{2,4}_[A-Za-z0-9]{16,}/g;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const cleaned = (value: unknown): unknown => {
  if (typeof value === 'string') return value.replace(ownSecrets, masked);
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, secretNames.test(name) ? masked : cleaned(member)]),
  );
};

/** Fields of the store, which differ after every write. */
const bookkeeping = new Set(['id', 'version', 'createdAt', 'updatedAt']);

/**
 * Returns the differences between two states of an object, recursively; arrays and scalars are compared as a whole.
 * Secrets are masked: a difference records that one changed, but not its values. A missing state has no members.
 */
export const differencesOf = (before: unknown, after: unknown, path: readonly string[] = []): Difference[] => {
  if (isDeepStrictEqual(before, after)) return [];
  const left = before ?? (isFields(after) ? {} : undefined);
  const right = after ?? (isFields(before) ? {} : undefined);
  if (isFields(left) && isFields(right)) {
    const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    return names
      .filter((name) => path.length > 0 || !bookkeeping.has(name))
      .flatMap((name) => differencesOf(left[name], right[name], [...path, name]));
  }
  const secret = path.some((name) => secretNames.test(name));
  const shown = (value: unknown): unknown => (secret ? masked : cleaned(value));
  return [
    {
      path: path.join('.'),
      ...(before === undefined ? {} : { before: shown(before) }),
      ...(after === undefined ? {} : { after: shown(after) }),
    },
  ];
};
