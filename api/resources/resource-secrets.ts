import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isFields } from '../../runtime/fields.ts';
import { isSealed, type SecretBox } from '../../runtime/secret-box.ts';
import { createFieldError } from '../errors.ts';

/** A field that is stored encrypted and never returned. */
export interface SecretField {
  /** Dotted path, through objects only */
  readonly path: string;
  /** Fields that determine where the secret is sent. If one of them changes, the secret must be entered again. */
  readonly destination: readonly string[];
  /** Whether the field is a secret in a document, where that depends on other fields; always by default. */
  isIn?(fields: object): boolean;
}

/** Value that is returned instead of a secret. In a request, it means the stored secret. */
export const secretMask = '********';

/** Schema of a secret: the given schema, or the mask. */
export const createSecretSchema = <Schema extends z.ZodType<string>>(schema: Schema) =>
  z.union([z.literal(secretMask), schema]).meta({ format: 'password' });

/** Returns the fields with masked secrets. */
export const maskSecrets = <Fields extends object>(fields: Fields, secrets: readonly SecretField[]): Fields =>
  replaceSecrets(fields, secrets, () => secretMask);

/** Returns the fields for the comparison in the audit log: a changed secret is marked, and its values are hidden. */
export const markSecretChanges = <Fields extends object>(
  fields: Fields,
  secrets: readonly SecretField[],
  before?: object,
): Fields =>
  replaceSecrets(fields, secrets, (stored, { path }) =>
    before === undefined || getValue(before, path) === stored ? '(secret)' : '(secret, changed)',
  );

/**
 * Returns the fields in their stored form. A mask preserves the secret of `before` only while all destination fields
 * are unchanged. Otherwise a caller who may edit but not read the secret could redirect it to their own host.
 */
export const sealSecrets = <Fields extends object>(
  fields: Fields,
  secrets: readonly SecretField[],
  { before, box, purpose }: { readonly before: object | undefined; readonly box: SecretBox; readonly purpose: string },
): Fields =>
  replaceSecrets(fields, secrets, (receivedValue, { path, destination }) => {
    if (receivedValue !== secretMask) return box.seal(purpose, receivedValue);
    const storedValue = before && getValue(before, path);
    if (before === undefined || typeof storedValue !== 'string')
      throw createFieldError(path, 'is the mask, but no secret is stored');
    const changedField = destination.find((field) => {
      const given = getValue(fields, field);
      const isSecret = secrets.some((secret) => secret.path === field && secret.isIn?.(before) !== false);
      if (isSecret && given === secretMask) return false;
      return !isDeepStrictEqual(
        isSecret ? openSecret(before, field, { box, purpose }) : getValue(before, field),
        given,
      );
    });
    if (changedField !== undefined)
      throw createFieldError(
        path,
        `must be specified again because ${changedField} changed: the stored secret belongs to the previous value`,
      );
    return isSealed(storedValue) ? storedValue : box.seal(purpose, storedValue);
  });

/**
 * Returns the secret at a path of stored fields in plain text; `undefined` if there is none or it cannot be opened. A value
 * from before its field was a secret is stored in plain text.
 */
export const openSecret = (
  fields: object,
  path: string,
  { box, purpose }: { readonly box: SecretBox; readonly purpose: string },
): string | undefined => {
  const storedValue = getValue(fields, path);
  if (typeof storedValue !== 'string') return undefined;
  return isSealed(storedValue) ? box.open(purpose, storedValue) : storedValue;
};

const getValue = (fields: unknown, path: string): unknown => {
  let value = fields;
  for (const name of path.split('.')) value = isFields(value) ? value[name] : undefined;
  return value;
};

const replaceSecrets = <Fields extends object>(
  fields: Fields,
  secrets: readonly SecretField[],
  replaceValue: (text: string, secret: SecretField) => string,
): Fields => {
  let result: unknown = fields;
  for (const secret of secrets) {
    const text = getValue(result, secret.path);
    if (typeof text === 'string' && secret.isIn?.(fields) !== false)
      result = setValue(result, secret.path.split('.'), replaceValue(text, secret));
  }
  return result as Fields;
};

const setValue = (fields: unknown, [name = '', ...rest]: readonly string[], value: string): unknown => {
  if (!isFields(fields)) return fields;
  return { ...fields, [name]: rest.length === 0 ? value : setValue(fields[name], rest, value) };
};
