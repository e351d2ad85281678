/** Values of groups by window, combined from several statements. */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { MetricQuery } from '../query.ts';

export type Across = MetricQuery['across'];

/** Function that combines the values of series in a cell: `ratio` divides the sum of values by the sum of divisors. */
export type CombineFunction = Across | 'ratio';

/** A row of `combineByGroupSql`. */
interface Row {
  readonly g: number;
  readonly windows: readonly string[];
  readonly values: readonly (number | string)[];
  readonly divisors: readonly (number | string)[];
  readonly counts: readonly string[];
  readonly integers: readonly (readonly [string, string])[];
  readonly points: string;
}

const isNotNanSql = 'NOT isNaN(a)';

/** Returns SQL of the combined value of several series, and of the exact integer if there is one. */
const combineSql = (by: CombineFunction): readonly [value: string, integer: string] => {
  switch (by) {
    case 'min':
    case 'max':
      return [`if(countIf(${isNotNanSql}) = 0, nan, ${by}If(a, ${isNotNanSql}))`, `${by}If(i, i != 0)`];
    default:
      return ['sum(a)', 'if(count() = 1, any(i), 0)'];
  }
};

/**
 * Returns SQL of the values of groups, from the values of series (`numbers.ts`). `{members:Array(UInt64)}` are the ids
 * of the series, and `{groups:Array(UInt32)}` is the group of each.
 */
const combineByGroupSql = (series: string, combineFunction: CombineFunction): string => {
  const [value, integer] = combineSql(combineFunction);
  return `SELECT g, groupArray(toInt64(w)) AS windows, groupArray(v) AS values, groupArray(d) AS divisors, groupArray(n) AS counts,
      groupArrayIf((toInt64(w), e), e != 0) AS integers, sum(p) AS points FROM (
    SELECT transform(series_id, {members:Array(UInt64)}, {groups:Array(UInt32)}, toUInt32(0)) AS g, w, ${value} AS v, sum(b) AS d, count() AS n,
      ${integer} AS e, sum(points) AS p
    FROM (${series}) GROUP BY g, w) GROUP BY g`;
};

/** Parses a number, which is text if JSON cannot represent it: `nan`, `inf` and `-inf`. */
export const parseClickHouseNumber = (value: number | string): number => {
  if (typeof value === 'number') return value;
  if (value === 'inf') return Number.POSITIVE_INFINITY;
  return value === '-inf' ? Number.NEGATIVE_INFINITY : Number(value);
};

const minIgnoringNaN = (left: number, right: number): number =>
  Number.isNaN(left) ? right : Number.isNaN(right) ? left : Math.min(left, right);
const maxIgnoringNaN = (left: number, right: number): number =>
  Number.isNaN(left) ? right : Number.isNaN(right) ? left : Math.max(left, right);

/** Value of a group in a window: `undefined` if no series has one, and for a mean without observations. */
export type Cell = number | bigint | undefined;

/**
 * Values of a query by group and window; the results of statements over parts of its series are added one after the
 * other.
 */
export class Cells {
  readonly #windows: number;
  readonly #combineFunction: CombineFunction;
  readonly #values: Float64Array;
  readonly #divisors: Float64Array;
  readonly #counts: Uint32Array;
  readonly #integers = new Map<number, bigint>();
  /** Points read. */
  points = 0;

  constructor(groups: number, windows: number, combineFunction: CombineFunction) {
    this.#windows = windows;
    this.#combineFunction = combineFunction;
    this.#values = new Float64Array(groups * windows);
    this.#divisors = new Float64Array(combineFunction === 'ratio' ? groups * windows : 0);
    this.#counts = new Uint32Array(groups * windows);
  }

  /** Reads the values of `series` for the members, each of which belongs to a group. */
  async add(
    columns: TenantColumns,
    series: string,
    parameters: Readonly<Record<string, readonly string[]>>,
    { members, groups }: { readonly members: readonly string[]; readonly groups: readonly number[] },
  ): Promise<void> {
    const rows = await columns.query<Row>(combineByGroupSql(series, this.#combineFunction), {
      ...parameters,
      members,
      groups,
    });
    for (const row of rows) {
      this.points += Number(row.points);
      const begin = row.g * this.#windows;
      for (let rowIndex = 0; rowIndex < row.windows.length; rowIndex++)
        this.#combine(
          begin + Number(row.windows[rowIndex]),
          parseClickHouseNumber(row.values[rowIndex] ?? 0),
          parseClickHouseNumber(row.divisors[rowIndex] ?? 0),
          Number(row.counts[rowIndex]),
        );
      for (const [window, integer] of row.integers) this.#combineInteger(begin + Number(window), BigInt(integer));
    }
  }

  /** Adds a value of one series. */
  addValue(group: number, window: number, value: number): void {
    this.#combine(group * this.#windows + window, value, 0, 1);
  }

  /** Adds the values of one series; series must be added in the order of their ids. */
  addSeriesValue(
    group: number,
    window: number,
    { a, b, i }: { readonly a: number; readonly b: number; readonly i: bigint },
  ): void {
    const cell = group * this.#windows + window;
    this.#combine(cell, a, b, 1);
    if (this.#combineFunction === 'min' || this.#combineFunction === 'max') {
      if (i !== 0n) this.#combineInteger(cell, i);
    } else if (this.#counts[cell] === 1 && i !== 0n) this.#integers.set(cell, i);
    else this.#integers.delete(cell);
  }

  #combine(cell: number, value: number, divisor: number, count: number): void {
    const values = this.#values;
    const previousCount = this.#counts[cell] as number;
    this.#counts[cell] = previousCount + count;
    if (previousCount === 0) values[cell] = value;
    else if (this.#combineFunction === 'min') values[cell] = minIgnoringNaN(values[cell] as number, value);
    else if (this.#combineFunction === 'max') values[cell] = maxIgnoringNaN(values[cell] as number, value);
    else values[cell] = (values[cell] as number) + value;
    if (this.#combineFunction === 'ratio') this.#divisors[cell] = (this.#divisors[cell] as number) + divisor;
  }

  #combineInteger(cell: number, integer: bigint): void {
    const storedInteger = this.#integers.get(cell);
    const isBetter =
      storedInteger === undefined ||
      (this.#combineFunction === 'min' ? integer < storedInteger : integer > storedInteger);
    if (isBetter) this.#integers.set(cell, integer);
  }

  get(group: number, window: number): Cell {
    const cell = group * this.#windows + window;
    const count = this.#counts[cell] as number;
    if (count === 0) return undefined;
    if (this.#combineFunction === 'count') return count;
    const value = this.#values[cell] as number;
    if (this.#combineFunction === 'ratio') {
      const divisor = this.#divisors[cell] as number;
      return divisor === 0 ? undefined : value / divisor;
    }
    if (this.#combineFunction === 'avg' && count > 1) return value / count;
    // The exact integer is returned only if it equals the combined double.
    const integer = this.#integers.get(cell);
    return integer !== undefined && Number(integer) === value ? integer : value;
  }
}
