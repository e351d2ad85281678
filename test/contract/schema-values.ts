/** Values generated from a schema: a valid value, and invalid values, each with one invalid field. */
import { z } from 'zod';
import type { Operation } from '../../api/kernel/operation.ts';

/** The part of JSON Schema that `z.toJSONSchema` writes. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly examples?: readonly unknown[];
}

export const schemaOf = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Schema;

/** Whether unknown keys are refused; external payloads may have more keys. */
export const isStrict = (schema: z.ZodType): boolean => schemaOf(schema).additionalProperties === false;

const textOfFormat: Readonly<Record<string, string>> = {
  email: 'somebody@example.com',
  'date-time': '2030-01-01T00:00:00.000Z',
  date: '2030-01-01',
  uri: 'https://example.com/x',
  uuid: '4be0643f-1d98-473b-97d4-1a1e5c2a9f6e',
  ipv4: '192.0.2.1',
  base64: 'eA==',
};

/** A value with the required fields of the schema. Patterns are not supported. */
export const sampleOf = (schema: Schema): unknown => {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice !== undefined) return sampleOf(choice);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sampleOf(schema.properties?.[name] ?? {})]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}));
    case 'string':
      return textOfFormat[schema.format ?? ''] ?? 'x'.repeat(Math.max(schema.minLength ?? 1, 1));
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    default:
      return null;
  }
};

/** A change of one field of a valid value that makes it invalid. */
export interface BadValue {
  /** Dotted path, as in `details`. */
  readonly path: string;
  readonly what: string;
  readonly value: unknown;
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const operator = ['an operator', { $ne: null }] as const;
type Wrong = readonly [what: string, value: unknown];

/** Values of another type, by type. */
const ofOtherTypes: Readonly<Record<string, readonly Wrong[]>> = {
  string: [operator, ['an array', ['x']], ['a number', 17]],
  integer: [operator, ['no number', 'seventeen'], ['a fraction', 1.5]],
  number: [operator, ['no number', 'seventeen']],
  boolean: [operator, ['no boolean', 'perhaps']],
  array: [operator, ['no array', 'x']],
  object: [
    ['no object', 'x'],
    ['an array', []],
  ],
};

/** Values outside a field's bounds. */
const beyondBounds = ({ maxLength, minimum, maximum, maxItems, items = {} }: Schema): Wrong[] => {
  const wrong: Wrong[] = [];
  if (maxLength !== undefined && maxLength <= 100_000) wrong.push(['too long', 'x'.repeat(maxLength + 1)]);
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) wrong.push(['too much', maximum + 1]);
  if (minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER) wrong.push(['too little', minimum - 1]);
  if (maxItems !== undefined && maxItems < 10_000)
    wrong.push(['too many', Array.from({ length: maxItems + 1 }, () => sampleOf(items))]);
  return wrong;
};

/** Values that a field must refuse; none for a choice between schemas. */
const wrongOf = (schema: Schema): readonly Wrong[] => {
  if ((schema.anyOf ?? schema.oneOf ?? schema.allOf) !== undefined) return [];
  if (schema.enum !== undefined) return [operator, ['no member', 'no-such-member']];
  return [...(ofOtherTypes[[schema.type].flat()[0] ?? ''] ?? []), ...beyondBounds(schema)];
};

/** Every invalid variant of a strict object with one invalid field, including nested objects. */
export const badValuesOf = (schema: Schema, good: unknown, at: readonly string[] = []): BadValue[] => {
  if (!isFields(good) || schema.properties === undefined) return [];
  const pathOf = (name: string): string => [...at, name].join('.');
  const found: BadValue[] = [];
  for (const name of schema.required ?? []) {
    const { [name]: _, ...rest } = good;
    found.push({ path: pathOf(name), what: 'missing', value: rest });
  }
  if (schema.additionalProperties === false)
    found.push({ path: pathOf('surprise'), what: 'unknown', value: { ...good, surprise: 1 } });
  for (const [name, field] of Object.entries(schema.properties)) {
    for (const [what, value] of wrongOf(field))
      found.push({ path: pathOf(name), what, value: { ...good, [name]: value } });
    const inner = good[name] ?? (field.type === 'object' ? sampleOf(field) : undefined);
    for (const bad of badValuesOf(field, inner, [...at, name]))
      found.push({ ...bad, value: { ...good, [name]: bad.value } });
  }
  return found;
};

/** Whether an operation parses JSON of another product itself, such as a source map. */
export const parsesJson = ({ alsoAccepts = {} }: Pick<Operation, 'alsoAccepts'>): boolean =>
  Object.hasOwn(alsoAccepts, 'application/json');
