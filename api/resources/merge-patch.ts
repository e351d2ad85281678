import { z } from 'zod';
import { isFields } from '../../runtime/fields.ts';

/**
 * JSON merge patch (RFC 7396): members of the patch replace, `null` removes, objects are merged recursively, arrays are
 * replaced.
 */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isFields(patch)) return patch;
  const merged = new Map(Object.entries(isFields(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
};

/**
 * Schema of a merge patch of an object: any of its members, each of its type or null. Defaults are not applied: members
 * that the patch omits stay unchanged. The result is then validated against the schema itself.
 */
export const createPatchSchema = (schema: z.ZodObject): z.ZodObject =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(schema.shape).map(([name, member]) => {
        const patchField = toPatchMember(member as z.ZodType)
          .nullable()
          .optional();
        const { description } = member as z.ZodType;
        return [name, description === undefined ? patchField : patchField.describe(description)];
      }),
    ),
  );

/** Schema of a partial update: each field with its complete value, or null for its default. */
export const createUpdateSchema = (schema: z.ZodObject): z.ZodObject =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(schema.shape).map(([name, member]) => {
        const { description } = member as z.ZodType;
        const field = removeDefault(member as z.ZodType)
          .nullable()
          .optional();
        return [name, description === undefined ? field : field.describe(description)];
      }),
    ),
  );

const removeDefault = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
    ? removeDefault(schema.unwrap() as z.ZodType)
    : schema;

const toPatchMember = (schema: z.ZodType): z.ZodType => {
  const innerSchema = unwrapOptional(schema);
  if (innerSchema instanceof z.ZodObject) return createPatchSchema(innerSchema);
  // A partial value of these types cannot be validated; only the merged result is.
  if (
    innerSchema instanceof z.ZodRecord ||
    innerSchema instanceof z.ZodUnion ||
    innerSchema instanceof z.ZodIntersection
  )
    return z.unknown();
  return innerSchema;
};

const unwrapOptional = (schema: z.ZodType): z.ZodType => {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  )
    return unwrapOptional(schema.unwrap() as z.ZodType);
  return schema;
};
