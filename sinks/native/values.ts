/** Column writers for JSON values, by column type. For low-volume data: each row is an object. */
import { PermanentError } from '../../schemas/errors.ts';
import { getTextBefore } from '../../schemas/text.ts';
import type { Column } from './column.ts';
import { Int64Column, NumberColumn } from './fixed-size-columns.ts';
import { ArrayColumn, EntryColumn, NullableColumn } from './nested-columns.ts';
import { DictionaryColumn, StringColumn } from './strings.ts';

/**
 * A column and its append function. Throws a `PermanentError` for a value that the column cannot represent; never
 * modifies a value.
 */
export interface ValueColumn {
  readonly column: Column;
  push(value: unknown): void;
}

const rejectValue = (type: string, value: unknown): never => {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  throw new PermanentError('bad-value', `${text.slice(0, 100)} is not a valid ${type}`);
};

const createTextColumn = (type: string, column: StringColumn | DictionaryColumn): ValueColumn => ({
  column,
  push: (value) => column.pushText(typeof value === 'string' ? value : rejectValue(type, value)),
});

/** Minimum and maximum of integers that fit one number. */
const integerRanges = {
  UInt8: [0, 255],
  UInt16: [0, 65_535],
  UInt32: [0, 4_294_967_295],
  Int32: [-2_147_483_648, 2_147_483_647],
} as const;
type IntegerType = keyof typeof integerRanges;

const requireInteger = (type: string, value: unknown, [min, max]: readonly [number, number]): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
    ? value
    : rejectValue(type, value);

const createSmallIntegerColumn = (type: IntegerType): ValueColumn => {
  const column = new NumberColumn(type);
  return { column, push: (value) => column.push(requireInteger(type, value, integerRanges[type])) };
};

/** Integers that fit two words exactly. */
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && Number.isSafeInteger(value);

const createLargeIntegerColumn = (type: 'UInt64' | 'Int64'): ValueColumn => {
  const column = new Int64Column(type);
  const [min, max] = type === 'UInt64' ? [0n, 2n ** 64n - 1n] : [-(2n ** 63n), 2n ** 63n - 1n];
  return {
    column,
    push(value) {
      if (isCount(value)) return column.pushInteger(value);
      const integer =
        typeof value === 'bigint' || Number.isSafeInteger(value) ? BigInt(value as number) : rejectValue(type, value);
      if (integer < min || integer > max) rejectValue(type, value);
      pushWords(column, integer);
    },
  };
};

const pushWords = (column: Int64Column, integer: bigint): void =>
  column.push(Number(BigInt.asUintN(32, integer)), Number(BigInt.asUintN(32, integer >> 32n)));

const isoTimePattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** An instant as a number of ticks of 10^-digits seconds. */
const parseTicks = (type: string, value: unknown, digits: number): bigint => {
  if (typeof value === 'number' && Number.isInteger(value)) return scaleTicks(BigInt(value), digits - 3);
  const [, seconds, fraction = '', zone] =
    (typeof value === 'string' && isoTimePattern.exec(value)) || rejectValue(type, value);
  const atMs = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(atMs)) rejectValue(type, value);
  const nanoseconds = BigInt(atMs) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
  return scaleTicks(nanoseconds, digits - 9);
};

const scaleTicks = (ticks: bigint, digits: number): bigint =>
  digits >= 0 ? ticks * 10n ** BigInt(digits) : ticks / 10n ** BigInt(-digits);

/** Maximum of sorting keys and partitions, which round to 32-bit seconds. */
const lastSecond = 4_294_967_295n;

const createInstantColumn = (type: string, digits: number): ValueColumn => {
  const column = new Int64Column(type);
  const maxTicks = (lastSecond + 1n) * 10n ** BigInt(digits) - 1n;
  const maxMs = digits === 3 ? Number(maxTicks) : -1;
  return {
    column,
    push(value) {
      if (isCount(value) && value <= maxMs) return column.pushInteger(value);
      const ticks = parseTicks(type, value, digits);
      if (ticks < 0n || ticks > maxTicks) rejectValue(type, value);
      pushWords(column, ticks);
    },
  };
};

/** DateTime and Date: the engine casts them from their integers. */
const createSecondsColumn = (type: string, integer: 'UInt32' | 'UInt16', secondsPerUnit: bigint): ValueColumn => {
  const column = new NumberColumn(integer);
  return {
    column,
    push: (value) =>
      column.push(requireInteger(type, Number(parseTicks(type, value, 0) / secondsPerUnit), integerRanges[integer])),
  };
};

const createArrayColumn = (type: string, elements: ValueColumn): ValueColumn => {
  const column = new ArrayColumn(elements.column);
  return {
    column,
    push(value) {
      for (const element of Array.isArray(value) ? value : rejectValue(type, value)) elements.push(element);
      column.endRow();
    },
  };
};

/** Keys of objects are texts. In a map of integers, those of up to 15 digits become numbers. */
const parseIntegerKey = (key: string): string | number => (/^-?\d{1,15}$/.test(key) ? Number(key) : key);

const createMapColumn = (type: string, keys: ValueColumn, values: ValueColumn): ValueColumn => {
  const isByInteger = /^U?Int/.test(keys.column.type);
  const column = new ArrayColumn(
    new EntryColumn(keys.column, values.column),
    `Map(${keys.column.type}, ${values.column.type})`,
  );
  return {
    column,
    push(value) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) rejectValue(type, value);
      for (const [key, entryValue] of Object.entries(value as object)) {
        keys.push(isByInteger ? parseIntegerKey(key) : key);
        values.push(entryValue);
      }
      column.endRow();
    },
  };
};

const createNullableColumn = (inner: ValueColumn, empty: unknown): ValueColumn => {
  const column = new NullableColumn(inner.column);
  return {
    column,
    push(value) {
      inner.push(value ?? empty);
      column.nulls.push(value === null || value === undefined ? 1 : 0);
    },
  };
};

/** Returns the text between the parentheses of `Name(…)`, split at its first top-level comma. */
const parseTypeArguments = (type: string): [string, string] => {
  const inner = type.slice(type.indexOf('(') + 1, type.lastIndexOf(')'));
  let depth = 0;
  for (const [at, character] of [...inner].entries()) {
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === ',' && depth === 0) return [inner.slice(0, at), inner.slice(at + 1).trim()];
  }
  return [inner, ''];
};

const getEmptyValue = (type: string): unknown => (type === 'String' ? '' : type === 'Bool' ? false : 0);

const columnFactories: Readonly<Record<string, (type: string, first: string, second: string) => ValueColumn>> = {
  String: (type) => createTextColumn(type, new StringColumn()),
  Bool: (type) => {
    const column = new NumberColumn('Bool');
    return {
      column,
      push: (value) => column.push(typeof value === 'boolean' ? Number(value) : rejectValue(type, value)),
    };
  },
  UInt8: () => createSmallIntegerColumn('UInt8'),
  UInt16: () => createSmallIntegerColumn('UInt16'),
  UInt32: () => createSmallIntegerColumn('UInt32'),
  Int32: () => createSmallIntegerColumn('Int32'),
  UInt64: () => createLargeIntegerColumn('UInt64'),
  Int64: () => createLargeIntegerColumn('Int64'),
  Float64: (type) => {
    const column = new Int64Column('Float64');
    return { column, push: (value) => column.pushDouble(typeof value === 'number' ? value : rejectValue(type, value)) };
  },
  DateTime64: (type, digits) => createInstantColumn(type, Number(digits)),
  DateTime: (type) => createSecondsColumn(type, 'UInt32', 1n),
  Date: (type) => createSecondsColumn(type, 'UInt16', 86_400n),
  LowCardinality: (type) => createTextColumn(type, new DictionaryColumn()),
  // A row's value is the initial value for the engine.
  SimpleAggregateFunction: (_type, _name, inner) => createValueColumn(inner),
  Nullable: (_type, inner) => createNullableColumn(createValueColumn(inner), getEmptyValue(inner)),
  Array: (type, inner) => createArrayColumn(type, createValueColumn(inner)),
  Map: (type, key, value) => createMapColumn(type, createValueColumn(key), createValueColumn(value)),
};

/** Returns a writer for a column of this type, ignoring the codec. Throws for an unsupported type. */
export const createValueColumn = (declaredType: string): ValueColumn => {
  const type = getTextBefore(declaredType, ' CODEC(');
  const createColumn = columnFactories[getTextBefore(type, '(')];
  if (createColumn === undefined) throw new Error(`no value writer exists for columns of type ${type}`);
  return createColumn(type, ...parseTypeArguments(type));
};
