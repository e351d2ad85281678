import type { AttributeType } from '../../schemas/records/attributes.ts';
import { type FieldKind, fieldsTable } from '../../schemas/tables/fields.ts';
import { nestedTypeOffset } from '../../schemas/tables/parts.ts';
import type { Int64Column } from '../native/fixed-size-columns.ts';
import type { MapColumn } from '../native/nested-columns.ts';
import type { DictionaryColumn } from '../native/strings.ts';
import { ValueRows } from '../native/value-rows.ts';
import { KnownFields } from './known-fields.ts';
import { RowShapes } from './row-shapes.ts';
import { type RowSource, toHour } from './source.ts';
import { Tally, type TallyEntry } from './tally.ts';

/** Fields and attributes that all records of a resource or scope have. */
export type RecordShape = readonly FieldName[];
interface FieldName {
  readonly kind: FieldKind;
  readonly key: string;
  readonly type: AttributeType;
}

/** Consecutive rows of one resource and scope */
interface Run {
  readonly from: number;
  readonly to: number;
  readonly shapes: readonly number[];
  /** Bits of the fields that all rows have. */
  readonly fields: number;
}

/** Columns from which fields are counted. */
export interface CountColumns {
  readonly timestamp: Int64Column;
  readonly map: MapColumn;
  readonly types: DictionaryColumn;
}

/** The fields of a telemetry signal: bit n of a bit set represents the nth optional field. */
export interface CountedFields {
  readonly topic: string;
  readonly optional: readonly string[];
  readonly always: readonly string[];
}

/** Columns of attributes, or of values inside bodies. */
type ShapeColumns = Pick<CountColumns, 'map' | 'types'>;

type Push = (kind: FieldKind, key: string, type: string, count: TallyEntry) => void;

/** Maximum number of buckets (hours of projects) in a batch, and of names that it writes. Additional names count as `other`. */
const maxBuckets = 128;
const maxNames = 20_000;
const maxKeyLength = 512;
const hourMs = 3_600_000;

/** Counts of one hour of a project */
class Bucket {
  readonly tenantId: string;
  readonly projectId: string;
  readonly hour: number;
  /** Index 0: all records; index 1: attributes without individual counts */
  readonly totals = new Tally(2);
  /** By shape number of a resource or scope */
  readonly tallyByRunShape = new Tally(8);
  /** By shape number of a row */
  readonly tallyByRowShape = new Tally(8);
  /** By shape number of the values inside a row's body */
  readonly tallyByBodyShape = new Tally(8);

  constructor({ tenantId, projectId }: RowSource, hour: number) {
    this.tenantId = tenantId;
    this.projectId = projectId;
    this.hour = hour;
  }
}

/** Converts nanoseconds in two words to epoch milliseconds: rounded down, and exact. */
const toMilliseconds = (low: number, high: number): number =>
  high * 4_294 + Math.floor((high * 967_296 + low) / 1_000_000);

/**
 * Counts the fields and attributes of the records in a batch, as rows of `fields`. Runs are recorded while a message is
 * scanned, and counted at its end, so that a rejected message has no effect.
 */
export class FieldCounts {
  readonly #values = new ValueRows(fieldsTable);
  readonly rows = this.#values.rows;
  readonly #fields: CountedFields;
  readonly #columns: CountColumns;
  readonly #knownFields = new KnownFields();
  #source: RowSource | undefined;
  #runs: Run[] = [];
  /** By organization and project, then by hour */
  readonly #buckets = new Map<string, Map<number, Bucket>>();
  #bucketCount = 0;
  readonly #shapeNumbers = new Map<RecordShape, number>();
  readonly #shapes: RecordShape[] = [];
  /** Bits of each row's fields, in addition to those of its run */
  #presentFields = new Uint16Array(1024);
  readonly #rowShapes: RowShapes;
  #bodyColumns: ShapeColumns | undefined;
  #bodyShapes: RowShapes | undefined;
  /** Number of omitted values inside arrays and maps, by row; few rows have any */
  readonly #omittedByRow = new Map<number, number>();
  #receivedAtMs = 0;
  #partition = 0;

  constructor(fields: CountedFields, columns: CountColumns) {
    this.#fields = fields;
    this.#columns = columns;
    this.#rowShapes = new RowShapes(columns.map, columns.types);
  }

  /** Also counts the values inside bodies. */
  addBodyValues(columns: ShapeColumns): void {
    this.#bodyColumns = columns;
    this.#bodyShapes = new RowShapes(columns.map, columns.types);
  }

  /** Counts values inside a row's arrays and maps that were omitted. */
  addOmittedValues(row: number, count: number): void {
    if (count > 0) this.#omittedByRow.set(row, count);
  }

  /** Sets the optional fields of a row. */
  setOptionalFields(row: number, fields: number): void {
    if (row >= this.#presentFields.length) {
      const larger = new Uint16Array(this.#presentFields.length * 2);
      larger.set(this.#presentFields);
      this.#presentFields = larger;
    }
    this.#presentFields[row] = fields;
  }

  /** Begins a message. */
  begin(): void {
    this.#runs = [];
    this.#omittedByRow.clear();
  }

  /** Sets the origin of the message, before its first run. */
  setSource(setSource: RowSource): void {
    this.#source = setSource;
  }

  /** Records rows from `from` to before `to`. */
  recordRun(from: number, to: number, shapes: readonly RecordShape[], fields: number): void {
    if (to === from) return;
    const shapeNumbers = shapes.filter(({ length }) => length > 0).map((shape) => this.#getShapeNumber(shape));
    this.#runs.push({ from, to, shapes: shapeNumbers, fields });
  }

  /** Ends a message and counts its runs. */
  end(): void {
    const source = this.#source;
    if (this.#runs.length === 0 || source === undefined) return;
    if (this.#bucketCount === 0) {
      this.#receivedAtMs = source.receivedAtMs;
      this.#partition = source.partition;
    }
    const project = `${source.tenantId}\0${source.projectId}`;
    const hours = this.#buckets.get(project) ?? new Map<number, Bucket>();
    this.#buckets.set(project, hours);
    for (const run of this.#runs) this.#count(run, hours, source);
    this.#runs = [];
  }

  /** Writes the counts as rows of a range, and resets them. */
  finish(offset: number, lastOffset: number): void {
    let remainingNames = maxNames;
    for (const hours of this.#buckets.values())
      for (const bucket of hours.values())
        remainingNames -= this.#write(bucket, { offset, last_offset: lastOffset }, remainingNames);
    this.#clear();
  }

  /** Returns the number of written names, at most `room`. */
  #write(
    bucket: Bucket,
    range: { readonly offset: number; readonly last_offset: number },
    maxWrittenNames: number,
  ): number {
    const { tenantId, projectId, hour, totals } = bucket;
    const push: Push = (kind, key, type, { records, first, last }) => {
      this.#values.push({
        tenant_id: tenantId,
        project_id: projectId,
        topic: this.#fields.topic,
        hour: hour * hourMs,
        kind,
        key,
        type,
        records,
        first_seen: first,
        last_seen: last,
        ...range,
        received_at: this.#receivedAtMs,
        partition: this.#partition,
      });
    };
    let writtenCount = 0;
    for (const [{ kind, key, type }, count] of this.#countByName(bucket)) {
      if (
        writtenCount < maxWrittenNames &&
        key.length <= maxKeyLength &&
        this.#admitsName(tenantId, `${kind} ${type} ${key}`)
      ) {
        push(kind, key, type, count);
        writtenCount++;
      } else totals.countMany(1, count);
    }
    this.#pushFields(bucket, push);
    push('record', '', '', totals.getEntry(0));
    if (totals.getEntry(1).records > 0) push('other', '', '', totals.getEntry(1));
    return writtenCount;
  }

  #clear(): void {
    this.#runs = [];
    this.#buckets.clear();
    this.#bucketCount = 0;
    this.#shapeNumbers.clear();
    this.#shapes.length = 0;
    this.#rowShapes.clear();
    this.#bodyShapes?.clear();
    this.#omittedByRow.clear();
  }

  #admitsName(tenantId: string, name: string): boolean {
    return this.#knownFields.admitName(tenantId, toHour(this.#receivedAtMs), name);
  }

  #getShapeNumber(shape: RecordShape): number {
    const existingNumber = this.#shapeNumbers.get(shape);
    if (existingNumber !== undefined) return existingNumber;
    this.#shapeNumbers.set(shape, this.#shapes.length);
    return this.#shapes.push(shape) - 1;
  }

  /**
   * Returns the bucket of an hour. Beyond the maximum number of hours, records count in the first hour of their
   * project.
   */
  #findBucket(hours: Map<number, Bucket>, hour: number, source: RowSource): Bucket {
    const existingBucket = hours.get(hour);
    if (existingBucket !== undefined) return existingBucket;
    const [firstBucket] = hours.values();
    if (firstBucket !== undefined && this.#bucketCount >= maxBuckets) return firstBucket;
    const bucket = new Bucket(source, hour);
    hours.set(hour, bucket);
    this.#bucketCount++;
    return bucket;
  }

  #count({ from, to, shapes, fields }: Run, hours: Map<number, Bucket>, source: RowSource): void {
    const { timestamp } = this.#columns;
    let bucket: Bucket | undefined;
    let hourBegin = 0;
    let [records, first, last] = [0, 0, 0];
    const flushCounts = (): void => {
      bucket?.totals.countMany(0, { records, first, last });
      for (const shape of shapes) bucket?.tallyByRunShape.countMany(shape, { records, first, last });
      records = 0;
    };
    for (let row = from; row < to; row++) {
      const time = toMilliseconds(timestamp.getLowWord(row), timestamp.getHighWord(row));
      if (bucket === undefined || time < hourBegin || time >= hourBegin + hourMs) {
        flushCounts();
        hourBegin = Math.floor(time / hourMs) * hourMs;
        bucket = this.#findBucket(hours, hourBegin / hourMs, source);
      }
      if (records++ === 0) {
        first = time;
        last = time;
      } else if (time < first) first = time;
      else if (time > last) last = time;
      bucket.tallyByRowShape.countOne(
        this.#rowShapes.findShape(row, (this.#presentFields[row] as number) | fields),
        time,
      );
      if (this.#rowShapes.wasLimited) bucket.totals.countOne(1, time);
      this.#countNestedValues(row, bucket, time);
    }
    flushCounts();
  }

  #countNestedValues(row: number, { totals, tallyByBodyShape }: Bucket, time: number): void {
    if (this.#bodyShapes !== undefined) {
      tallyByBodyShape.countOne(this.#bodyShapes.findShape(row, 0), time);
      if (this.#bodyShapes.wasLimited) totals.countOne(1, time);
    }
    const omittedCount = this.#omittedByRow.size === 0 ? 0 : (this.#omittedByRow.get(row) ?? 0);
    totals.countMany(1, { records: omittedCount, first: time, last: time });
  }

  /** Returns the counts by name, most frequent first. */
  #countByName({ tallyByRowShape, tallyByBodyShape, tallyByRunShape }: Bucket): [FieldName, TallyEntry][] {
    const countsById = new Map<string, [FieldName, Tally]>();
    const add = (fieldName: FieldName, count: TallyEntry): void => {
      const id = `${fieldName.kind} ${fieldName.type} ${fieldName.key}`;
      const entry = countsById.get(id) ?? [fieldName, new Tally(1)];
      countsById.set(id, entry);
      entry[1].countMany(0, count);
    };
    const addKeys = (kind: FieldKind, tally: Tally, { map }: ShapeColumns, shapes: RowShapes): void => {
      for (const [shape, count] of tally.entries())
        shapes.forEach(shape, (key, typeCode) => {
          const type = String.fromCharCode(typeCode | nestedTypeOffset) as AttributeType;
          add({ kind, key: map.keys.getText(key), type }, count);
        });
    };
    addKeys('attribute', tallyByRowShape, this.#columns, this.#rowShapes);
    if (this.#bodyColumns !== undefined && this.#bodyShapes !== undefined)
      addKeys('body', tallyByBodyShape, this.#bodyColumns, this.#bodyShapes);
    for (const [shape, count] of tallyByRunShape.entries())
      for (const fieldName of this.#shapes[shape] ?? []) add(fieldName, count);
    return [...countsById.values()]
      .map(([fieldName, tally]): [FieldName, TallyEntry] => [fieldName, tally.getEntry(0)])
      .sort(([, left], [, right]) => right.records - left.records);
  }

  #pushFields({ tallyByRowShape, totals }: Bucket, push: Push): void {
    const { always, optional } = this.#fields;
    for (const name of always) push('field', name, '', totals.getEntry(0));
    const presentFields = new Tally(optional.length);
    for (const [shape, count] of tallyByRowShape.entries())
      for (const bit of optional.keys())
        if ((this.#rowShapes.getFields(shape) & (1 << bit)) !== 0) presentFields.countMany(bit, count);
    for (const [bit, count] of presentFields.entries()) push('field', optional[bit] ?? '', '', count);
  }
}
