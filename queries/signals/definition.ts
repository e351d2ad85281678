/** Definition of a data source for queries. `README.md` of this folder describes how to add one. */

import type { Field } from '../../schemas/fields.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { TextSearch } from '../../schemas/tables/search.ts';
import type { Topic } from '../../schemas/topic.ts';
import type { PlanReader } from '../entitlement.ts';
import type { TableColumn } from '../result.ts';

/** Parts of a span with their own attributes, by the prefix of their names. */
export const spanParts = ['events', 'links'] as const;

/** Entire records as rows of a table, for a query that names no fields. */
export interface CompleteRecords {
  readonly columns: readonly TableColumn[];
  /** Selection from the table. */
  readonly selection: string;
  /** Returns the values of each row, in the order of the columns. */
  read(columns: TenantColumns, rows: readonly unknown[]): Promise<unknown[][]>;
}

/** Rows and aggregates of a data source. */
export interface SignalRecords {
  readonly table: string;
  /** FROM clause instead of the table; it has the table's name, and uses `{from:Int64}` and `{to:Int64}`. */
  readonly from?: string;
  /** UCUM annotation of their count. */
  readonly unit: string;
  /** Whether newer rows replace others, so that the number of rows does not reveal changes. */
  readonly hasReplacedRows?: true;
  /** Column with the number of records that a row represents; without it each row is one. */
  readonly counted?: string;
  /** Time resolution of records: shorter steps, and steps that are not a multiple, are rejected. */
  readonly minStepMs?: number;
  /** Reads complete records. Without it, a record consists of its fields. */
  readonly whole?: CompleteRecords;
}

export interface SignalDefinition {
  /** Plural name of its records for people: `log records`. */
  readonly records: string;
  /** Entitlement a plan needs for reads. */
  readonly entitlement: string;
  /** Group of the API whose read scope an API token needs for reads. */
  readonly group: string;
  /** Returns the retention days of a plan for this data source. */
  retentionDays(days: PlanReader['plan']['retentionDays']): number;
  /**
   * Table whose newest rows determine the freshness, and its time column. It also has `received_at`, whose maximum is
   * the freshness unless `upTo` has another expression.
   */
  readonly newest: { readonly table: string; readonly time: string; readonly upTo?: string };
  /** Names in the search language that refer to fields instead of attributes. */
  readonly fields: readonly Field<never>[];
  /** Texts in which words of a search are matched. */
  readonly text: TextSearch;
  /** Whether the table has `attributeIndex`. */
  readonly hasAttributeIndex: boolean;
  /** Parts with their own attributes. */
  readonly parts?: typeof spanParts;
  /** Topic under which the table `fields` counts the attribute names. Without it, the names are unknown. */
  readonly countedBy?: Topic;
  /** Without it the data source supports conditions, but no rows and aggregates. */
  readonly queryable?: SignalRecords;
  /** For searches over streamed records: the texts in which words are matched, the same as those of `text` in SQL. */
  readonly streamSearch?: { words(record: never): string | readonly string[] };
}

/**
 * Declares a data source. The type keeps the declared properties, so that queries for rows compile only for data sources with rows.
 */
export const defineSignal = <const Definition extends SignalDefinition>(definition: Definition): Definition =>
  definition;

type ColumnFormat = Pick<TableColumn, 'type' | 'unit'>;

/** Column formats. */
export const timeFormat: ColumnFormat = { type: 'time', unit: '' };
export const durationFormat: ColumnFormat = { type: 'duration', unit: 'ns' };
export const numberFormat: ColumnFormat = { type: 'number', unit: '' };
export const textFormat: ColumnFormat = { type: 'text', unit: '' };
export const jsonFormat: ColumnFormat = { type: 'json', unit: '' };

/**
 * Defines entire records: the columns by name, the selection of a row, and the conversion of rows to records with all
 * columns.
 */
export const defineCompleteRecords = <Row, Name extends string>(
  columns: Readonly<Record<Name, ColumnFormat>>,
  selection: string,
  toRecords: (columns: TenantColumns, rows: readonly Row[]) => Promise<readonly Readonly<Record<Name, unknown>>[]>,
): CompleteRecords => {
  const names = Object.keys(columns) as Name[];
  return {
    columns: names.map((name) => ({ name, ...columns[name] })),
    selection,
    read: async (tenant, rows) =>
      (await toRecords(tenant, rows as readonly Row[])).map((record) => names.map((name) => record[name])),
  };
};
