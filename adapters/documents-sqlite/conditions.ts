/**
 * Conditions that SQLite evaluates on the stored text of a document: whether it may match a filter, whether it
 * certainly matches, and its position in an order. A list then parses few documents beyond its page, and a count almost none.
 * Field paths are parameters; those of orders are plain names and part of the statement.
 */
import type { Filter } from '../../schemas/ports/documents.ts';
import {
  getExactValues,
  getRequiredValues,
  getTypeRank,
  isPlainObject,
  type Order,
  type Scalar,
} from '../documents-query.ts';

/** A condition of a statement, with the values of its placeholders. */
export interface Condition {
  readonly sql: string;
  readonly parameters: readonly (string | number)[];
}

/** Whether SQLite's path and MongoDB's path of a field find the same values. The store's own fields are columns. */
export const isField = (path: string): boolean =>
  /^[a-z]\w*$/i.test(path) && !['id', 'version', 'createdAt', 'updatedAt'].includes(path);

const joinConditions = (conditions: readonly Condition[], operator: 'AND' | 'OR'): Condition => ({
  sql: `(${conditions.map(({ sql }) => sql).join(` ${operator} `)})`,
  parameters: conditions.flatMap(({ parameters }) => parameters),
});

/** Combines the parts into one condition; undefined if a part is undefined, or for `OR` without parts. */
export const combineAll = (
  parts: readonly (Condition | undefined)[],
  operator: 'AND' | 'OR',
): Condition | undefined => {
  const definedParts = parts.filter((part) => part !== undefined);
  if (definedParts.length < parts.length) return undefined;
  if (definedParts.length > 0) return joinConditions(definedParts, operator);
  return operator === 'AND' ? { sql: '1', parameters: [] } : undefined;
};

/** Conditions with more values than this are not evaluated by SQLite but by the filter itself. */
const maxValues = 10;

/** Builds a condition that is true if the JSON text of a field contains one of the values, directly or in a list. */
const containsAnyValue = (path: string, values: readonly Scalar[]): Condition | undefined =>
  values.length === 0 || values.length > maxValues
    ? undefined
    : joinConditions(
        values.map((value) => ({ sql: 'instr(fields -> ?, ?) > 0', parameters: [path, JSON.stringify(value)] })),
        'OR',
      );

const escapes = /\\([\\^$.*+?()[\]{}|])/g;

/** A longer literal would not be more selective. */
const maxLiteralLength = 256;

/**
 * Returns the longest part of a pattern that JSON does not escape and whose case SQLite can fold. Undefined if the
 * pattern is more than a literal text, or has no suitable part.
 */
const extractLiteral = (pattern: string): string | undefined => {
  if (/[\\^$.*+?()[\]{}|]/.test(pattern.replace(escapes, ''))) return undefined;
  const runs = pattern.replace(escapes, '$1').match(/[ !#-[\]-~]+/g) ?? [];
  return runs.sort((left, right) => right.length - left.length)[0]?.slice(0, maxLiteralLength);
};

/** The pattern and options of a condition that only has a pattern. */
const getPattern = (condition: unknown): readonly [pattern: string, options: unknown] | undefined => {
  if (!isPlainObject(condition)) return undefined;
  const { $regex, $options = '', ...others } = condition;
  return typeof $regex === 'string' && Object.keys(others).length === 0 ? [$regex, $options] : undefined;
};

const buildLikePattern = (literal: string): string => `%${literal.replace(/[%_]/g, '\\$&')}%`;

const containsText = (path: string, condition: unknown): Condition | undefined => {
  const [pattern, options] = getPattern(condition) ?? [];
  const literal = pattern !== undefined && (options === '' || options === 'i') ? extractLiteral(pattern) : undefined;
  return literal === undefined
    ? undefined
    : { sql: "fields -> ? LIKE ? ESCAPE '\\'", parameters: [path, buildLikePattern(literal)] };
};

const toPossibleCondition = (path: string, condition: unknown): Condition | undefined => {
  if (path === '$and') return combineKnown((condition as Filter[]).map(toPossibleConditions));
  if (path === '$or') return combineAll((condition as Filter[]).map(toPossibleConditions), 'OR');
  if (!isField(path)) return undefined;
  const values = getRequiredValues(condition);
  return values === undefined ? containsText(path, condition) : containsAnyValue(path, values);
};

/** Combines the known parts; unknown parts may be true. */
const combineKnown = (parts: readonly (Condition | undefined)[]): Condition | undefined => {
  const definedParts = parts.filter((part) => part !== undefined);
  return definedParts.length === 0 ? undefined : joinConditions(definedParts, 'AND');
};

const toPossibleConditions = (filter: Filter): Condition | undefined =>
  combineKnown(Object.entries(filter).map(([path, condition]) => toPossibleCondition(path, condition)));

/**
 * Builds a condition that is true for every matching document, and for few others. It is true for documents that are
 * too deep for SQLite's JSON parser.
 */
export const buildPossibleMatchCondition = (filter: Filter): Condition => {
  const condition = toPossibleConditions(filter);
  return condition === undefined
    ? { sql: '1', parameters: [] }
    : { sql: `(NOT json_valid(fields) OR ${condition.sql})`, parameters: condition.parameters };
};

/** True for a text field that contains the whole pattern, case-insensitively or not. */
const certainlyContainsText = (path: string, condition: unknown): Condition | undefined => {
  const [pattern = '', options] = getPattern(condition) ?? [];
  const literal = options === 'i' ? extractLiteral(pattern) : undefined;
  if (literal === undefined || literal !== pattern.replace(escapes, '$1')) return undefined;
  return {
    sql: "(json_type(fields, ?) = 'text' AND fields ->> ? LIKE ? ESCAPE '\\')",
    parameters: [`$.${path}`, path, buildLikePattern(literal)],
  };
};

/** Values that all candidate documents have at a path, according to an index. */
export interface IndexedValues {
  readonly path: string;
  readonly values: readonly Scalar[];
}

const equalsAnyValue = (path: string, values: readonly Scalar[]): Condition | undefined =>
  values.length === 0 || values.length > maxValues
    ? undefined
    : joinConditions(
        values.map((value) => ({ sql: 'fields -> ? = ?', parameters: [path, JSON.stringify(value)] })),
        'OR',
      );

/**
 * Sufficient condition: true only for matching documents, but not for all of them. Undefined if it would be true for
 * none.
 */
const buildSufficientCondition = (filter: Filter, indexedValues: IndexedValues | undefined): Condition | undefined => {
  const buildSufficientConditions = (condition: unknown): (Condition | undefined)[] =>
    (condition as Filter[]).map((part) => buildSufficientCondition(part, indexedValues));
  const buildPart = (path: string, condition: unknown): Condition | undefined => {
    if (path === '$and') return combineAll(buildSufficientConditions(condition), 'AND');
    if (path === '$or')
      return combineAll(
        buildSufficientConditions(condition).filter((part) => part !== undefined),
        'OR',
      );
    const values = getExactValues(condition);
    if (
      values !== undefined &&
      path === indexedValues?.path &&
      JSON.stringify(values) === JSON.stringify(indexedValues.values)
    )
      return { sql: '1', parameters: [] };
    if (!isField(path)) return undefined;
    return values === undefined ? certainlyContainsText(path, condition) : equalsAnyValue(path, values);
  };
  return combineAll(
    Object.entries(filter).map(([path, condition]) => buildPart(path, condition)),
    'AND',
  );
};

/**
 * True only for documents that match. It may be false for matches with a list that contains the value, or a text with a
 * NUL character.
 */
export const buildCertainMatchCondition = (
  filter: Filter,
  indexedValues: IndexedValues | undefined,
): Condition | undefined => {
  const condition = buildSufficientCondition(filter, indexedValues);
  return (
    condition && {
      sql: `CASE WHEN json_valid(fields) THEN ${condition.sql} ELSE 0 END`,
      parameters: condition.parameters,
    }
  );
};

const ownColumns: Readonly<Record<string, readonly [rank: string, value: string]>> = {
  version: ['1', 'version'],
  createdAt: ['2', 'created_at'],
  updatedAt: ['2', 'updated_at'],
};

/**
 * Rank of the type of the value at a path, in BSON order, and the value. `unplaced` is the rank of values without a
 * position. The path is part of the statement text, as in the index. Undefined for a path that SQLite reads differently
 * from MongoDB.
 */
export const buildPositionSql = (
  path: string,
  unrankedValue: number,
): readonly [rank: string, value: string] | undefined => {
  if (Object.hasOwn(ownColumns, path)) return ownColumns[path];
  if (!isField(path)) return undefined;
  const rank = `CASE WHEN NOT json_valid(fields) THEN ${unrankedValue} ELSE CASE json_type(fields, '$.${path}')
    WHEN 'text' THEN 2 WHEN 'integer' THEN 1 WHEN 'real' THEN 1 WHEN 'true' THEN 3 WHEN 'false' THEN 3
    WHEN 'array' THEN ${unrankedValue} WHEN 'object' THEN ${unrankedValue} ELSE 0 END END`;
  return [rank, `CASE WHEN json_valid(fields) THEN fields ->> '$.${path}' END`];
};

/** Rank of values without a position: they sort first in both directions, so they are found before any other value. */
export const getLeadingRank = (direction: 1 | -1): number => (direction === 1 ? -1 : 4);

/** Whether a rank is that of a list, an object, or a document that SQLite cannot parse. */
export const isUnranked = (rank: number): boolean => rank < 0 || rank > 3;

/** Columns of an order: rank of the value's type, and the value, under these names. */
export interface OrderColumns {
  readonly path: string;
  readonly direction: 1 | -1;
  readonly after: Condition;
  readonly sql: string;
}

/** Columns for an order by one field and the id. Undefined for any other order. */
export const toOrderColumns = (order: Order, start: readonly Scalar[] | undefined): OrderColumns | undefined => {
  const [[path, direction] = ['id', 1 as const], [, idDirection] = ['id', 1 as const]] = order;
  if (order.length !== 2) return undefined;
  const [sqlDirection, afterOperator] = direction === 1 ? ['ASC', '>'] : ['DESC', '<'];
  const [idSqlDirection, idAfterOperator] = idDirection === 1 ? ['ASC', '>'] : ['DESC', '<'];
  const [value = null, id = null] = start ?? [];
  // The value passes through SQLite's JSON parser like the stored values.
  const parameterSql = "(? ->> '$')";
  const after =
    start === undefined
      ? { sql: '1', parameters: [] }
      : {
          sql: `(rank NOT BETWEEN 0 AND 3 OR rank ${afterOperator} ? OR
            (rank = ? AND (value ${afterOperator} ${parameterSql} OR (value IS ${parameterSql} AND id ${idAfterOperator} ?))))`,
          parameters: [
            getTypeRank(value),
            getTypeRank(value),
            JSON.stringify(value),
            JSON.stringify(value),
            String(id),
          ],
        };
  // A constant rank would prevent SQLite from using the index of the order.
  const rankOrderSql = Object.hasOwn(ownColumns, path) ? '' : `rank ${sqlDirection},`;
  return { path, direction, after, sql: `ORDER BY ${rankOrderSql} value ${sqlDirection}, id ${idSqlDirection}` };
};
