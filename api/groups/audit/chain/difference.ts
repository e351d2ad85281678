import { isDeepStrictEqual } from 'node:util';
import { isFields } from '../../../../runtime/fields.ts';
import type { Difference } from '../../../../schemas/resources/audit-record.ts';

/** Replacement for a secret in a difference */
export const maskedValue = '(secret)';

/** Members that never appear in a difference, in any object. */
const secretNamePattern =
  /password|passphrase|secret|credential|hash$|token$|private_?key|api_?key$|access_?key$|recovery_?codes|^codes$|^authorization$|^cookie$/i;

/** Keys and tokens of OIQ, which are masked in any text */
const oiqSecretPattern = /\boiq_[a-z]{2,4}_[A-Za-z0-9]{16,}/g;

const maskSecrets = (value: unknown): unknown => {
  if (typeof value === 'string') return value.replace(oiqSecretPattern, maskedValue);
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      secretNamePattern.test(name) ? maskedValue : maskSecrets(member),
    ]),
  );
};

/** Fields of the store, which differ after every write. */
const storeFields = new Set(['id', 'version', 'createdAt', 'updatedAt']);

/**
 * Returns the differences between two states of an object, recursively; arrays and scalars are compared as a whole.
 * Secrets are masked: a difference records that one changed, but not its values. A missing state has no members.
 */
export const findDifferences = (before: unknown, after: unknown, path: readonly string[] = []): Difference[] => {
  if (isDeepStrictEqual(before, after)) return [];
  const left = before ?? (isFields(after) ? {} : undefined);
  const right = after ?? (isFields(before) ? {} : undefined);
  if (isFields(left) && isFields(right)) {
    const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    return names
      .filter((name) => path.length > 0 || !storeFields.has(name))
      .flatMap((name) => findDifferences(left[name], right[name], [...path, name]));
  }
  const isSecret = path.some((name) => secretNamePattern.test(name));
  const toRecordedValue = (value: unknown): unknown => (isSecret ? maskedValue : maskSecrets(value));
  return [
    {
      path: path.join('.'),
      ...(before === undefined ? {} : { before: toRecordedValue(before) }),
      ...(after === undefined ? {} : { after: toRecordedValue(after) }),
    },
  ];
};
