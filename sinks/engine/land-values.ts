import type { z } from 'zod';
import { parseEmittedPosition } from '../../schemas/records/emitted-position.ts';
import { parseTopicValue, type ValueTopic } from '../../schemas/records/values.ts';
import { landedPosition } from '../../schemas/tables/parts.ts';
import type { TableRow } from '../../schemas/tables/row.ts';
import type { Table } from '../../schemas/tables/table.ts';
import { ValueRows } from '../native/value-rows.ts';
import type { ScanMessage, Scanner } from '../scan/scanner.ts';
import { Extremes, type ExtremesOptions } from './extremes.ts';
import { defineSink, type Sink } from './sink.ts';

/** Columns with the position of a row's message */
type Origin = keyof typeof landedPosition;
/** Columns that are filled in for all tables that have them; `ordinal` counts the rows of a message. */
type SharedColumn = Origin | 'ordinal';

/** A table whose rows of a range can be counted (`schemas/tables/parts.ts`, `landed`), or whose rows merge */
type LandableTable = Table & ({ readonly engine: string } | { readonly columns: Readonly<Record<Origin, string>> });

/** Columns that a sink of values writes itself */
type WrittenRow<Declared extends Table> = Omit<TableRow<Declared>, SharedColumn>;

/** Argument of `row`: each value of a message for a derived topic, otherwise the message's value. */
type TopicValue<ValueTopicType extends ValueTopic> = ValueTopicType extends {
  readonly item: infer Item extends z.ZodType;
}
  ? z.output<Item>
  : z.output<ValueTopicType['value']>;

/** `never` for each name that is not a column: TypeScript does not report excess properties otherwise. */
type NoExcessColumns<Row, Declared extends Table> = Row extends readonly (infer Each)[]
  ? readonly NoExcessColumns<Each, Declared>[]
  : { readonly [Name in Exclude<keyof Row, keyof WrittenRow<Declared>>]: never };

/**
 * Declares a sink that lands each value of a topic as one or more rows of a table. The topic's schema validates the
 * value, and the table's columns type the row. `received_at` is when the bus accepted the message. A message with an
 * invalid value goes to the dead-letter topic. Values of processors are stored once, even if they were published
 * again after a crash.
 */
export const defineValueSink = <
  ValueTopicType extends ValueTopic,
  const Declared extends LandableTable,
  Row extends WrittenRow<Declared> | readonly WrittenRow<Declared>[],
  const Merging extends Table & { readonly engine: string } = never,
>({
  topic,
  table,
  row,
  merging,
  ...definition
}: {
  readonly topic: ValueTopicType;
  readonly table: Declared;
  readonly row: (value: TopicValue<ValueTopicType>) => Row & NoExcessColumns<NoInfer<Row>, Declared>;
  /** A second table, whose rows merge: the distinct objects, in addition to their counts. */
  readonly merging?: {
    readonly table: Merging;
    readonly row: (value: TopicValue<ValueTopicType>) => WrittenRow<Merging> | readonly WrittenRow<Merging>[];
    /**
     * For rows that contain only a key and its first and last time: only the earliest and the latest value of each key
     * in a batch produce rows. The columns must accept all values that the topic's schema and the first table accept.
     */
    readonly extremes?: ExtremesOptions<TopicValue<ValueTopicType>>;
  };
} & Partial<Pick<Sink, 'name' | 'summary' | 'unprocessable'>>): Sink =>
  defineSink({
    name: topic.name,
    summary: `Lands ${topic.name}: ${table.summary}.`,
    ...definition,
    inputs: [topic],
    ...('emitter' in table.columns && { positionsTable: table }),
    scanner: async () =>
      createValueScanner(topic, [
        { table, row: row as (value: unknown) => object },
        ...(merging === undefined ? [] : [merging as LandedTable]),
      ]),
  });

interface LandedTable {
  readonly table: Table;
  readonly row: (value: unknown) => object | readonly object[];
  readonly extremes?: ExtremesOptions<unknown>;
}

/** Filled-in columns of one message */
type SharedFields = Record<Exclude<SharedColumn, 'ordinal'>, string | number> & { ordinal: number };
const sharedColumns: readonly SharedColumn[] = [...(Object.keys(landedPosition) as Origin[]), 'ordinal'];

/** Writes rows of a table */
interface Target {
  readonly rows: ValueRows<Table>;
  scan(values: readonly unknown[], origin: SharedFields): void;
  finish(): void;
}

const toRows = (result: object | readonly object[]): readonly object[] => (Array.isArray(result) ? result : [result]);

const createTarget = ({ table, row, extremes }: LandedTable): Target => {
  const rows = new ValueRows(table, sharedColumns);
  if (extremes === undefined)
    return {
      rows,
      scan(values, origin) {
        origin.ordinal = 0;
        for (const value of values)
          for (const convertedRow of toRows(row(value))) {
            rows.pushWithShared(convertedRow, origin);
            origin.ordinal++;
          }
      },
      finish() {},
    };
  const extremesReader = new Extremes(extremes);
  const push = (value: unknown): void => {
    for (const convertedRow of toRows(row(value))) rows.pushWithShared(convertedRow, {});
  };
  return { rows, scan: (values) => extremesReader.addMessage(values, push), finish: () => extremesReader.finish(push) };
};

const createValueScanner = (topic: ValueTopic, landedTables: readonly LandedTable[]): Scanner => {
  const targets = landedTables.map(createTarget);
  return {
    tables: targets.map(({ rows }) => rows.rows),
    landedHours: [],
    scan({ value, offset, timestampMs, headers }: ScanMessage, partition: number): void {
      const { emitter = '', offset: emittedOffset = 0, part = 0 } = parseEmittedPosition(headers) ?? {};
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
      const content: unknown = parseTopicValue(topic, value);
      const values = 'item' in topic ? (content as unknown[]) : [content];
      for (const target of targets) target.scan(values, origin);
    },
    discardRow() {},
    finish() {
      for (const target of targets) target.finish();
    },
  };
};
