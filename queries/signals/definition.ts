/** What a signal is to those who ask of it. `README.md` of this folder says how one is added. */

import type { Field } from '../../schemas/fields.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { SearchedText } from '../../schemas/tables/search.ts';
import type { Topic } from '../../schemas/topic.ts';
import type { Reader } from '../entitlement.ts';
import type { TableColumn } from '../result.ts';

/** Parts of a span that have attributes of their own, by the prefix of their names. */
export const spanParts = ['events', 'links'] as const;

/** Whole records as rows of a table, for a question that names no fields. */
export interface WholeRecords {
  readonly columns: readonly TableColumn[];
  /** What is selected of the table. */
  readonly selection: string;
  /** The values of each row, in the order of the columns. */
  read(columns: TenantColumns, rows: readonly unknown[]): Promise<unknown[][]>;
}

/** What rows and figures can be asked of. */
export interface SignalRecords {
  readonly table: string;
  /** What stands behind FROM instead of the table; it goes by the table's name, and reads `{from:Int64}` and `{to:Int64}`. */
  readonly from?: string;
  /** UCUM annotation of a count of them. */
  readonly unit: string;
  /** Rows are replaced by newer ones: their number does not tell that something changed. */
  readonly areReplaced?: true;
  /** The column of how many records a row stands for; without it each is one. */
  readonly counted?: string;
  /** Records tell no more of their time: shorter steps, and steps that are no multiple of it, are refused. */
  readonly leastStepMs?: number;
  /** Without it a record is its fields. */
  readonly whole?: WholeRecords;
}

export interface SignalDefinition {
  /** What its records are, for people: `log records`. */
  readonly records: string;
  /** What a plan must include so that it can be read. */
  readonly entitlement: string;
  /** Days that a plan keeps of it. */
  keptDays(days: Reader['plan']['retentionDays']): number;
  /**
   * The table whose newest rows tell up to when it has landed, and its column of the time; it has `received_at` too, whose latest it is
   * but for another expression in `upTo`.
   */
  readonly newest: { readonly table: string; readonly time: string; readonly upTo?: string };
  /** What names of the search language mean before they mean attributes. */
  readonly fields: readonly Field<never>[];
  /** Where words of a search are looked for. */
  readonly text: SearchedText;
  /** Whether the table has `attributeIndex`. */
  readonly hasAttributeIndex: boolean;
  /** Parts with attributes of their own. */
  readonly parts?: typeof spanParts;
  /** The topic by which table `fields` counts names of its attributes. Without it nobody knows which there are. */
  readonly countedBy?: Topic;
  /** Without it conditions can be made of it, but no rows and figures. */
  readonly queryable?: SignalRecords;
  /** Where searches test records as they pass: the texts in which words are looked for, as `text` has them in SQL. */
  readonly passing?: { words(record: never): string | readonly string[] };
}

/** Declares a signal. Its type has what of the definition is there, so that a signal without rows cannot be asked for some. */
export const defineSignal = <const Definition extends SignalDefinition>(definition: Definition): Definition =>
  definition;

type Form = Pick<TableColumn, 'type' | 'unit'>;

/** Forms of columns. */
export const time: Form = { type: 'time', unit: '' };
export const duration: Form = { type: 'duration', unit: 'ns' };
export const number: Form = { type: 'number', unit: '' };
export const text: Form = { type: 'text', unit: '' };
export const json: Form = { type: 'json', unit: '' };

/** Whole records: the columns by name, what is selected for a row, and how rows become records that have all columns. */
export const wholeRecords = <Row, Name extends string>(
  columns: Readonly<Record<Name, Form>>,
  selection: string,
  recordsOf: (columns: TenantColumns, rows: readonly Row[]) => Promise<readonly Readonly<Record<Name, unknown>>[]>,
): WholeRecords => {
  const names = Object.keys(columns) as Name[];
  return {
    columns: names.map((name) => ({ name, ...columns[name] })),
    selection,
    read: async (tenant, rows) =>
      (await recordsOf(tenant, rows as readonly Row[])).map((record) => names.map((name) => record[name])),
  };
};
