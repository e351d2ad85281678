import type { z } from 'zod';
import { emittedPosition } from '../../schemas/records/emitted.ts';
import { topicValue, type ValueTopic } from '../../schemas/records/values.ts';
import { landed } from '../../schemas/tables/parts.ts';
import type { RowOf } from '../../schemas/tables/row.ts';
import type { Table } from '../../schemas/tables/table.ts';
import { ValueRows } from '../native/value-rows.ts';
import type { ScanMessage, Scanner } from '../scan/scanner.ts';
import { Extremes, type ExtremesOptions } from './extremes.ts';
import { defineSink, type Sink } from './sink.ts';

/** Columns that say where a row came from. */
type Origin = keyof typeof landed;
/** They are filled in wherever a table has them; `ordinal` counts the rows of a message. */
type FilledIn = Origin | 'ordinal';

/** A table whose rows of a range can be counted (`schemas/tables/parts.ts`, `landed`), or whose rows merge. */
type Landable = Table & ({ readonly engine: string } | { readonly columns: Readonly<Record<Origin, string>> });

/** The columns that a sink of values writes itself. */
type Written<Declared extends Table> = Omit<RowOf<Declared>, FilledIn>;

/** What `row` is given: of a derived topic each value of a message, of another the message's value. */
type Given<Of extends ValueTopic> = Of extends { readonly item: infer Item extends z.ZodType }
  ? z.output<Item>
  : z.output<Of['value']>;

/** `never` under each name that is no column: what an object has too much is no error otherwise. */
type NoOther<Row, Declared extends Table> = Row extends readonly (infer Each)[]
  ? readonly NoOther<Each, Declared>[]
  : { readonly [Name in Exclude<keyof Row, keyof Written<Declared>>]: never };

/**
 * Declares a sink that lands each value of a topic as a row of a table, or as several. The value is checked by the topic's
 * schema, the row by the table's columns; `received_at` is when the bus took the message. A message whose value does not match goes to
 * the dead letter. What processors emit lands once, also when it was published again after a crash.
 */
export const landValues = <
  Of extends ValueTopic,
  const Declared extends Landable,
  Row extends Written<Declared> | readonly Written<Declared>[],
  const Merging extends Table & { readonly engine: string } = never,
>({
  topic,
  table,
  row,
  merging,
  ...definition
}: {
  readonly topic: Of;
  readonly table: Declared;
  readonly row: (value: Given<Of>) => Row & NoOther<NoInfer<Row>, Declared>;
  /** A second table, whose rows merge: what there is, beside how often. */
  readonly merging?: {
    readonly table: Merging;
    readonly row: (value: Given<Of>) => Written<Merging> | readonly Written<Merging>[];
    /**
     * Where a row tells of nothing but a key and its first and last time: of a batch the earliest and the latest value of each key make
     * rows. Its columns take whatever the topic's schema and the first table take.
     */
    readonly extremes?: ExtremesOptions<Given<Of>>;
  };
} & Partial<Pick<Sink, 'name' | 'summary' | 'unprocessable'>>): Sink =>
  defineSink({
    name: topic.name,
    summary: `Lands ${topic.name}: ${table.summary}.`,
    ...definition,
    inputs: [topic],
    ...('emitter' in table.columns && { positions: table }),
    scanner: async () =>
      valueScanner(topic, [
        { table, row: row as (value: unknown) => object },
        ...(merging === undefined ? [] : [merging as Landed]),
      ]),
  });

interface Landed {
  readonly table: Table;
  readonly row: (value: unknown) => object | readonly object[];
  readonly extremes?: ExtremesOptions<unknown>;
}

/** What is filled in, of one message. */
type FilledInRow = Record<Exclude<FilledIn, 'ordinal'>, string | number> & { ordinal: number };
const filledIn: readonly FilledIn[] = [...(Object.keys(landed) as Origin[]), 'ordinal'];

/** Writes rows of a table. */
interface Target {
  readonly rows: ValueRows<Table>;
  scan(values: readonly unknown[], origin: FilledInRow): void;
  finish(): void;
}

const rowsIn = (made: object | readonly object[]): readonly object[] => (Array.isArray(made) ? made : [made]);

const targetOf = ({ table, row, extremes }: Landed): Target => {
  const rows = new ValueRows(table, filledIn);
  if (extremes === undefined)
    return {
      rows,
      scan(values, origin) {
        origin.ordinal = 0;
        for (const value of values)
          for (const each of rowsIn(row(value))) {
            rows.pushWithShared(each, origin);
            origin.ordinal++;
          }
      },
      finish() {},
    };
  const extremesReader = new Extremes(extremes);
  const push = (value: unknown): void => {
    for (const each of rowsIn(row(value))) rows.pushWithShared(each, {});
  };
  return { rows, scan: (values) => extremesReader.message(values, push), finish: () => extremesReader.finish(push) };
};

const valueScanner = (topic: ValueTopic, landed: readonly Landed[]): Scanner => {
  const targets = landed.map(targetOf);
  return {
    tables: targets.map(({ rows }) => rows.rows),
    seen: [],
    scan({ value, offset, timestampMs, headers }: ScanMessage, partition: number): void {
      const { emitter = '', offset: emittedOffset = 0, part = 0 } = emittedPosition(headers) ?? {};
      const origin = {
        topic: topic.name,
        partition,
        offset,
        ordinal: 0,
        received_at: timestampMs,
        emitter,
        emitted_offset: emittedOffset,
        emitted_part: part,
      };
      const content: unknown = topicValue(topic, value);
      const values = 'item' in topic ? (content as unknown[]) : [content];
      for (const target of targets) target.scan(values, origin);
    },
    abandon() {},
    finish() {
      for (const target of targets) target.finish();
    },
  };
};
