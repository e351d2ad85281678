import type { z } from 'zod';
import { PermanentError } from '../../schemas/errors.ts';
import type { RowOf } from '../../schemas/tables/row.ts';
import type { Table } from '../../schemas/tables/table.ts';
import type { Topic } from '../../schemas/topics.ts';
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

/** A derived topic: JSON values with a schema. */
interface ValueTopic<Value extends z.ZodType> extends Topic {
  readonly value: Value;
}

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
      const rows = rowOf(parsedOf(topic, value));
      for (const row of Array.isArray(rows) ? rows : [rows]) target.push({ ...row, ...origin });
    },
    abandon() {},
  };
};

const parsedOf = <Value extends z.ZodType>(topic: ValueTopic<Value>, bytes: Uint8Array): z.output<Value> => {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (cause) {
    throw new PermanentError('bad-value', `the value on topic ${topic.name} is not JSON`, { cause });
  }
  const parsed = topic.value.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  throw new PermanentError('bad-value', `the value does not match topic ${topic.name}: ${place}${issue?.message}`);
};
