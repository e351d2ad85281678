import type { Column } from './column.ts';
import { Int64Column, NumberColumn } from './fixed-size-columns.ts';
import { DictionaryColumn, StringColumn } from './strings.ts';

/**
 * Array(T): the cumulative count of elements after each row, and the elements. Append elements, then `endRow` the row.
 */
export class ArrayColumn<Element extends Column> implements Column {
  readonly type: string;
  readonly elements: Element;
  readonly #ends = new Int64Column('UInt64');

  constructor(elements: Element, type = `Array(${elements.type})`) {
    this.type = type;
    this.elements = elements;
  }

  get rows(): number {
    return this.#ends.rows;
  }

  /** Returns the number of elements up to the end of a row. */
  endAt(row: number): number {
    return row < 0 ? 0 : this.#ends.getLowWord(row);
  }

  /** Ends the row: the elements appended since the last row are its value. */
  endRow(): void {
    this.#ends.push(this.elements.rows, 0);
  }

  mark(): void {
    this.#ends.mark();
    this.elements.mark();
  }

  rollback(): void {
    this.#ends.rollback();
    this.elements.rollback();
  }

  reset(): void {
    this.#ends.reset();
    this.elements.reset();
  }

  get prefixSize(): number {
    return this.elements.prefixSize;
  }

  writePrefix(target: Uint8Array, offset: number): number {
    return this.elements.writePrefix(target, offset);
  }

  computeSize(): number {
    return this.#ends.computeSize() + this.elements.computeSize();
  }

  write(target: Uint8Array, offset: number): number {
    return this.elements.write(target, this.#ends.write(target, offset));
  }
}

/** A key and its value. Used only inside an array, where the pairs form a map. */
export class EntryColumn<Keys extends Column, Values extends Column> implements Column {
  readonly type: string;
  readonly prefixSize: number;
  readonly keys: Keys;
  readonly values: Values;

  constructor(keys: Keys, values: Values) {
    this.type = `Tuple(${keys.type}, ${values.type})`;
    this.prefixSize = keys.prefixSize + values.prefixSize;
    this.keys = keys;
    this.values = values;
  }

  get rows(): number {
    return this.values.rows;
  }

  mark(): void {
    this.keys.mark();
    this.values.mark();
  }

  rollback(): void {
    this.keys.rollback();
    this.values.rollback();
  }

  reset(): void {
    this.keys.reset();
    this.values.reset();
  }

  writePrefix(target: Uint8Array, offset: number): number {
    return this.values.writePrefix(target, this.keys.writePrefix(target, offset));
  }

  computeSize(): number {
    return this.keys.computeSize() + this.values.computeSize();
  }

  write(target: Uint8Array, offset: number): number {
    return this.values.write(target, this.keys.write(target, offset));
  }
}

/** Map(LowCardinality(String), String). Append keys and values, then `endRow` the row. */
export class MapColumn extends ArrayColumn<EntryColumn<DictionaryColumn, StringColumn>> {
  readonly keys: DictionaryColumn;
  readonly values: StringColumn;

  constructor() {
    super(new EntryColumn(new DictionaryColumn(), new StringColumn()), 'Map(LowCardinality(String), String)');
    this.keys = this.elements.keys;
    this.values = this.elements.values;
  }
}

/** Nullable(T): a null marker byte per row, and the values. Append to both. */
export class NullableColumn<Values extends Column> implements Column {
  readonly type: string;
  readonly prefixSize = 0;
  readonly nulls = new NumberColumn('UInt8');
  readonly values: Values;

  constructor(values: Values) {
    this.type = `Nullable(${values.type})`;
    this.values = values;
  }

  get rows(): number {
    return this.nulls.rows;
  }

  mark(): void {
    this.nulls.mark();
    this.values.mark();
  }

  rollback(): void {
    this.nulls.rollback();
    this.values.rollback();
  }

  reset(): void {
    this.nulls.reset();
    this.values.reset();
  }

  writePrefix(_target: Uint8Array, offset: number): number {
    return offset;
  }

  computeSize(): number {
    return this.nulls.computeSize() + this.values.computeSize();
  }

  write(target: Uint8Array, offset: number): number {
    return this.values.write(target, this.nulls.write(target, offset));
  }
}

/** Nullable(Float64) from the two words of a value. */
export class NullableDoubleColumn extends NullableColumn<Int64Column> {
  constructor() {
    super(new Int64Column('Float64'));
  }

  push(low: number, high: number): void {
    this.nulls.push(0);
    this.values.push(low, high);
  }

  pushNull(): void {
    this.nulls.push(1);
    this.values.push(0, 0);
  }
}
