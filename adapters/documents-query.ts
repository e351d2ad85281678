/** The query language of both stores: filters, total order, and the page cursor. */

import { PermanentError } from '../schemas/errors.ts';
import type { CountOptions, Filter, FindOptions } from '../schemas/ports/documents.ts';

export type Scalar = string | number | boolean | null;
/** Field path and direction; the last entry is always the id. */
export type Order = readonly (readonly [path: string, direction: 1 | -1])[];

export const defaultLimit = 1000;

const logicalOperators: ReadonlySet<string> = new Set(['$and', '$or', '$nor']);
const comparisonOperators: ReadonlySet<string> = new Set(
  '$eq $ne $gt $gte $lt $lte $in $nin $exists $regex $options $elemMatch $not $all $size'.split(' '),
);

/** Whether a value is an object with fields, and not a list. */
export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

const checkCondition = (path: string, condition: unknown): void => {
  // A filter on an unset variable would otherwise mean "is null", or match everything.
  if (condition === undefined) throw new TypeError(`filter on ${path} is undefined`);
  if (Array.isArray(condition)) for (const value of condition) checkCondition(path, value);
  if (!isPlainObject(condition)) return;
  for (const [operator, operand] of Object.entries(condition)) {
    if (operator.startsWith('$') && !comparisonOperators.has(operator) && !logicalOperators.has(operator))
      throw new TypeError(`filter on ${path} uses ${operator}, which not all stores support`);
    checkCondition(path, operand);
  }
};

/** Returns the same filter with renamed field paths; throws for operators that only one of the stores supports. */
export const renamePaths = (filter: Filter, getPath: (path: string) => string): Record<string, unknown> => {
  const result: Record<string, unknown> = {};
  for (const [path, condition] of Object.entries(filter)) {
    if (logicalOperators.has(path)) {
      if (!Array.isArray(condition)) throw new TypeError(`${path} in a filter must be a list`);
      result[path] = condition.map((part: Filter) => renamePaths(part, getPath));
      continue;
    }
    if (path.startsWith('$')) throw new TypeError(`filter uses ${path}, which not all stores support`);
    checkCondition(path, condition);
    result[getPath(path)] = condition;
  }
  return result;
};

/** Returns the values that a condition requires of a field, if it requires any. */
export const getRequiredValues = (condition: unknown): readonly Scalar[] | undefined => {
  const value = isPlainObject(condition) && '$eq' in condition ? condition.$eq : condition;
  const values = isPlainObject(value) && Array.isArray(value.$in) ? (value.$in as unknown[]) : [value];
  // Null also matches missing fields, which no index lists.
  return values.every((value): value is Scalar => isScalar(value) && value !== null) ? values : undefined;
};

/** Returns the values of a condition that only requires a field to have one of them. */
export const getExactValues = (condition: unknown): readonly Scalar[] | undefined =>
  isPlainObject(condition) && Object.keys(condition).length > 1 ? undefined : getRequiredValues(condition);

/** Returns the paths of fields that must have one of the listed values in every match. */
export const collectRequiredValues = (filter: Filter): ReadonlyMap<string, readonly Scalar[]> => {
  const required = new Map<string, readonly Scalar[]>();
  for (const [path, condition] of Object.entries(filter)) {
    const parts = path === '$and' && Array.isArray(condition) ? (condition as Filter[]) : [];
    for (const part of parts) for (const [inner, values] of collectRequiredValues(part)) required.set(inner, values);
    const values = path.startsWith('$') ? undefined : getRequiredValues(condition);
    if (values !== undefined) required.set(path, values);
  }
  return required;
};

/** Range of ids that contains every match, both ends included. */
export interface IdBounds {
  readonly minId: string;
  readonly maxId: string;
}

/** No id of valid length sorts after it. */
const lastId = '\u{10ffff}'.repeat(512);

/** Bounds from a filter's comparisons of `id`, ignoring `$and`. They may be wider than the filter. */
export const getIdBounds = ({ id }: Filter): IdBounds => {
  const { $gt, $gte, $lt, $lte } = isPlainObject(id) ? id : {};
  const selectStrings = (values: readonly unknown[]): string[] => values.filter((value) => typeof value === 'string');
  return {
    minId: selectStrings([$gt, $gte]).sort(compareText).at(-1) ?? '',
    maxId: selectStrings([$lt, $lte]).sort(compareText)[0] ?? lastId,
  };
};

export const toOrder = (sort: FindOptions['sort'] = {}): Order => {
  const order: [string, 1 | -1][] = [];
  for (const [path, direction] of Object.entries(sort)) {
    order.push([path, direction]);
    if (path === 'id') return order;
  }
  order.push(['id', 1]);
  return order;
};

/** Every value at a dotted path; lists on the path and at its end are traversed like in MongoDB. */
export const getValuesAt = (value: unknown, path: readonly string[]): unknown[] => {
  const [name, ...rest] = path;
  if (name === undefined) return Array.isArray(value) ? [value, ...value] : [value];
  if (Array.isArray(value)) {
    const indexed = /^\d+$/.test(name) ? getValuesAt(value[Number(name)], rest) : [];
    return [...indexed, ...value.filter(isPlainObject).flatMap((element) => getValuesAt(element, path))];
  }
  return isPlainObject(value) && Object.hasOwn(value, name) ? getValuesAt(value[name], rest) : [];
};

type Chosen = NonNullable<CountOptions['selectedValues']>;

/** Checks the fields to count: throws for fields without counts, and for choices on other fields. */
export const requireCountableFields = (
  fields: readonly string[],
  { selectedValues = {} }: CountOptions,
): readonly string[] => {
  for (const field of fields)
    if (field.includes('.') || ['id', 'version', 'createdAt', 'updatedAt'].includes(field))
      throw new TypeError(`values of ${field} are not counted`);
  for (const field of Object.keys(selectedValues))
    if (!fields.includes(field)) throw new TypeError(`the selected field ${field} is not counted`);
  return fields;
};

/** Filter for counting the values of a field: the choices of all other fields. */
export const filterExceptField = (field: string, chosen: Chosen): Filter =>
  Object.fromEntries(Object.entries(chosen).filter(([other]) => other !== field));

/** Filter for counting several fields: matches the choices for at least one of them. */
export const filterExceptAnyField = (fields: readonly string[], chosen: Chosen): Filter => {
  const each = fields.map((field) => filterExceptField(field, chosen));
  return each.some((filter) => Object.keys(filter).length === 0) ? {} : { $or: each };
};

/** The counted values of a document's field, each once. */
export const getCountedValues = (
  document: Readonly<Record<string, unknown>>,
  field: string,
): ReadonlySet<CountedValue> =>
  new Set(getValuesAt(document, [field]).filter((value): value is CountedValue => isScalar(value) && value !== null));
type CountedValue = NonNullable<Scalar>;

/** A document's position in the order. Throws if the document has a list or an object where the sort needs a scalar. */
export const getPosition = (document: Readonly<Record<string, unknown>>, order: Order): readonly Scalar[] =>
  order.map(([path]) => {
    const [value = null] = getValuesAt(document, path.split('.'));
    if (!isScalar(value))
      throw new TypeError(`documents cannot be sorted by ${path}: a document has a list or an object at that path`);
    return value;
  });

/** The order of types is that of BSON. */
export const getTypeRank = (value: Scalar): number => ['object', 'number', 'string', 'boolean'].indexOf(typeof value);

/** Compares by code points, like UTF-8 bytes; JavaScript's own order of code units differs above U+FFFF. */
const compareText = (left: string, right: string): number => {
  if (left === right) return 0;
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
};

const compareScalars = (left: Scalar, right: Scalar): number => {
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  const ranks = getTypeRank(left) - getTypeRank(right);
  return ranks === 0 ? Number(left) - Number(right) : ranks;
};

export const comparePositions = (left: readonly Scalar[], right: readonly Scalar[], order: Order): number => {
  for (const [index, [, direction]] of order.entries()) {
    const difference = compareScalars(left[index] ?? null, right[index] ?? null);
    if (difference !== 0) return difference * direction;
  }
  return 0;
};

const formatSignature = (order: Order): string => order.map(([path, direction]) => `${direction}${path}`).join();

export const encodeCursor = (position: readonly Scalar[], order: Order): string =>
  Buffer.from(JSON.stringify({ sort: formatSignature(order), place: position })).toString('base64url');

const tryParseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Parses an untrusted cursor: accepts only scalars, and exactly as many as the order has. */
export const parseCursor = (cursor: string, order: Order): readonly Scalar[] => {
  const value = tryParseJson(Buffer.from(cursor, 'base64url').toString());
  if (isPlainObject(value) && value.sort === formatSignature(order)) {
    const { place } = value;
    if (
      Array.isArray(place) &&
      place.length === order.length &&
      place.every(isScalar) &&
      typeof place.at(-1) === 'string'
    )
      return place;
  }
  throw new PermanentError('bad-cursor', 'cursor does not belong to this list and sort order');
};

const buildAfterConditions = (path: string, direction: 1 | -1, value: Scalar): Filter[] => {
  const types = ['null', 'number', 'string', 'bool'];
  const rank = getTypeRank(value);
  if (direction === 1 && value === null) return [{ [path]: { $ne: null } }];
  const laterTypes = direction === 1 ? types.slice(rank + 1) : types.slice(1, Math.max(rank, 1));
  const conditions: Filter[] = [];
  if (value !== null) conditions.push({ [path]: direction === 1 ? { $gt: value } : { $lt: value } });
  if (laterTypes.length > 0) conditions.push({ [path]: { $type: laterTypes } });
  // `null` as a value also matches missing fields, `$type` does not.
  if (direction === -1 && value !== null) conditions.push({ [path]: null });
  return conditions;
};

/**
 * MongoDB's filter for everything after a position. Comparisons match a single type only, so the filter lists the types
 * that sort after it.
 */
export const buildAfterFilter = (
  position: readonly Scalar[],
  order: Order,
  pathOf: (path: string) => string,
): Filter => {
  const branches: Filter[] = [];
  const equal: Filter[] = [];
  for (const [index, [path, direction]] of order.entries()) {
    const value = position[index] ?? null;
    for (const condition of buildAfterConditions(pathOf(path), direction, value))
      branches.push({ $and: [...equal, condition] });
    equal.push({ [pathOf(path)]: value });
  }
  return { $or: branches };
};
