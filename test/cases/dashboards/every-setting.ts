/** Values of a schema, chosen so that a few of them cover each setting and each of its choices. */
import { z } from 'zod';

type Schema = z.core.JSONSchema.BaseSchema;
type Numbers = Readonly<Record<'minimum' | 'maximum' | 'exclusiveMinimum', number | undefined>>;

const choicesOf = ({ oneOf, anyOf }: Schema): readonly Schema[] =>
  ((oneOf ?? anyOf ?? []) as readonly Schema[]).filter(({ type }) => type !== 'null');

/**
 * Texts for fields that accept no other values; the last ones satisfy constraints that the JSON schema does not
 * declare.
 */
const texts = ['red', 'p95', '5m'];
const textsByKey: Readonly<Record<string, string>> = { url: '/red', step: '5m' };

const plain = (schema: Schema, nth: number): unknown => {
  const { minimum = 0, maximum = 4, exclusiveMinimum } = schema as unknown as Numbers;
  if (schema.type === 'boolean') return nth % 2 === 0 ? schema.default !== true : schema.default === true;
  if (schema.type === 'string') return texts.find((one) => new RegExp(schema.pattern ?? '', 'u').test(one));
  return exclusiveMinimum === undefined ? (nth % 2 === 0 ? minimum : Math.min(maximum, minimum + 1)) : 1;
};

const madeOf = (schema: Schema, nth: number): unknown => {
  const choices = choicesOf(schema);
  if (choices.length > 0) return madeOf(choices[nth % choices.length] as Schema, Math.floor(nth / choices.length));
  if ('const' in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[nth % schema.enum.length];
  if (schema.type === 'array') return [madeOf(schema.items as Schema, nth)];
  if (schema.type === 'object')
    return schema.properties === undefined
      ? { A: madeOf(schema.additionalProperties as Schema, nth) }
      : Object.fromEntries(
          Object.entries(schema.properties).map(([key, member]) => [
            key,
            textsByKey[key] ?? madeOf(member as Schema, nth),
          ]),
        );
  return plain(schema, nth);
};

/** Returns values of a schema that cycle through its choices. */
export const valuesOf = (schema: z.ZodType, maxCount: number): unknown[] => {
  const declared = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  return Array.from({ length: maxCount }, (_, nth) => madeOf(declared, nth));
};
