import type { z } from 'zod';
import { topicValue, type ValueTopic } from '../../schemas/records/values.ts';
import type { RowOf } from '../../schemas/tables/row.ts';
import type { Table } from '../../schemas/tables/table.ts';
import { ValueRows } from '../native/value-rows.ts';
import type { ScanMessage, Scanner } from '../scan/scanner.ts';
import { defineSink, type Sink } from './sink.ts';

/** Columns that say where a row came from; they are filled in wherever a table has them. */
type Origin = 'topic' | 'partition' | 'offset' | 'received_at';

/** A table whose rows of a range can be counted (`schemas/tables/parts.ts`, `landed`), or whose rows merge. */
type Landable = Table & ({ readonly engine: string } | { readonly columns: Readonly<Record<Origin, string>> });

/** The columns that a sink of values writes itself. */
type Written<Declared extends Table> = Omit<RowOf<Declared>, Origin>;

/** `never` under each name that is no column: what an object has too much is no error otherwise. */
type NoOther<Row, Declared extends Table> = Row extends readonly (infer Each)[]
  ? readonly NoOther<Each, Declared>[]
  : { readonly [Name in Exclude<keyof Row, keyof Written<Declared>>]: never };

/**
 * Declares a sink that lands each value of a topic as a row of a table, or as several. The value is checked by the topic's
 * schema, the row by the table's columns; `received_at` is when the bus took the message. A value that does not match goes to the dead letter.
 */
export const landValues = <
  Value extends z.ZodType,
  const Declared extends Landable,
  Row extends Written<Declared> | readonly Written<Declared>[],
>({
  topic,
  table,
  row,
  ...definition
}: {
  readonly topic: ValueTopic<Value>;
  readonly table: Declared;
  readonly row: (value: z.output<Value>) => Row & NoOther<NoInfer<Row>, Declared>;
} & Partial<Pick<Sink, 'name' | 'summary' | 'unprocessable'>>): Sink =>
  defineSink({
    name: topic.name,
    summary: `Lands ${topic.name}: ${table.summary}.`,
    ...definition,
    inputs: [topic],
    scanner: async () => valueScanner(topic, table, row),
  });

const valueScanner = <Value extends z.ZodType>(
  topic: ValueTopic<Value>,
  table: Table,
  rowOf: (value: z.output<Value>) => object | readonly object[],
): Scanner => {
  const target = new ValueRows(table);
  return {
    tables: [target.rows],
    seen: [],
    scan({ value, offset, timestampMs }: ScanMessage, partition: number): void {
      const origin = { topic: topic.name, partition, offset, received_at: timestampMs };
      const rows = rowOf(topicValue(topic, value));
      for (const row of Array.isArray(rows) ? rows : [rows]) target.push({ ...row, ...origin });
    },
    abandon() {},
  };
};
