/** TypeScript types of the rows of a declared table: the column types are written once, in ClickHouse's syntax. */
import type { Table } from './table.ts';

/** A type without its codec */
type WithoutCodec<Type extends string> = Type extends `${infer Inner} CODEC(${string}` ? Inner : Type;

/** Columns that the engine computes when a row omits them. */
type IsComputed<Type extends string> =
  Type extends `${string} ${'MATERIALIZED' | 'ALIAS' | 'DEFAULT' | 'EPHEMERAL'}${string}` ? true : false;

interface Scalars {
  readonly String: string;
  readonly Bool: boolean;
  readonly UInt8: number;
  readonly UInt16: number;
  readonly UInt32: number;
  readonly Int32: number;
  readonly UInt64: number | bigint;
  readonly Int64: number | bigint;
  readonly Float64: number;
}

/** Milliseconds since the epoch, or ISO 8601 with at most as many digits as the column has. */
type Instant = number | string;

/** Type of a column's value; `never` for a type that cannot be written from values. */
type ColumnValue<Type extends string> = Type extends keyof Scalars
  ? Scalars[Type]
  : Type extends `LowCardinality(${infer Inner})`
    ? ColumnValue<Inner>
    : Type extends `SimpleAggregateFunction(${string}, ${infer Inner})`
      ? ColumnValue<Inner>
      : Type extends `Nullable(${infer Inner})`
        ? ColumnValue<Inner> | null
        : Type extends `Array(${infer Inner})`
          ? readonly ColumnValue<Inner>[]
          : Type extends `Map(${string}, ${infer Value})`
            ? Readonly<Record<string, ColumnValue<Value>>>
            : Type extends `DateTime${string}` | 'Date'
              ? Instant
              : never;

/** Every column that is not computed, with the type of its value. */
export type TableRow<Declared extends Pick<Table, 'columns'>> = {
  readonly [Name in keyof Declared['columns'] & string as IsComputed<Declared['columns'][Name]> extends true
    ? never
    : Name]: ColumnValue<WithoutCodec<Declared['columns'][Name]>>;
};
