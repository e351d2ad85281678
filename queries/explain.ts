/** Explains which tables and indexes a query uses. */
import { z } from 'zod';
import { explainPrefix, type QueryLimits, type QueryParameters, type TenantColumns } from '../schemas/ports/columns.ts';
import type { QueryReader } from './promql/query-reader.ts';
import type { QueryRequest } from './query.ts';
import type { RunContext } from './query-kind.ts';
import { run } from './run.ts';

const Selection = z.strictObject({
  selected: z.int(),
  of: z.int(),
});

export const ReadTable = z.strictObject({
  table: z.string(),
  indexes: z
    .array(
      z.strictObject({
        type: z
          .string()
          .describe('MinMax and Partition: by days of entire parts; PrimaryKey: by row order; Skip: by a skip index'),
        name: z.string().nullable().describe('Name of a skip index'),
        keys: z.array(z.string()).describe('Key columns that were used'),
        parts: Selection.describe('Remaining parts, out of those before'),
        granules: Selection.describe('Remaining granules of about 8,192 rows'),
      }),
    )
    .describe('Indexes in order of use, each applied to the rows that the previous one selected'),
});

export const ExplainedStatement = z.strictObject({
  sql: z.string().describe('Statement with names of parameters instead of their values'),
  times: z.int().describe('Number of executions; lists query one time range after the other'),
  tables: z.array(ReadTable),
});
export type ExplainedStatement = z.output<typeof ExplainedStatement>;

/** A node of the engine's plan, with the fields read here. */
interface PlanNode {
  readonly 'Node Type'?: string;
  readonly Description?: string;
  readonly Indexes?: readonly IndexUse[];
  readonly Plans?: readonly PlanNode[];
}
interface IndexUse {
  readonly Type: string;
  readonly Name?: string;
  readonly Keys?: readonly string[];
  readonly 'Initial Parts'?: number;
  readonly 'Selected Parts'?: number;
  readonly 'Initial Granules'?: number;
  readonly 'Selected Granules'?: number;
}

const collectTables = (node: PlanNode): z.output<typeof ReadTable>[] => [
  ...(node['Node Type'] === 'ReadFromMergeTree' ? [toReadTable(node)] : []),
  ...(node.Plans ?? []).flatMap(collectTables),
];

const toReadTable = ({ Description = '', Indexes = [] }: PlanNode): z.output<typeof ReadTable> => ({
  table: Description.slice(Description.lastIndexOf('.') + 1),
  indexes: Indexes.map((index) => ({
    type: index.Type,
    name: index.Name ?? null,
    keys: [...(index.Keys ?? [])],
    parts: { selected: index['Selected Parts'] ?? 0, of: index['Initial Parts'] ?? 0 },
    granules: { selected: index['Selected Granules'] ?? 0, of: index['Initial Granules'] ?? 0 },
  })),
});

const explainStatement = async (
  columns: TenantColumns,
  sql: string,
  parameters?: QueryParameters,
  limits?: QueryLimits,
) => {
  const rows = await columns.query<{ explain: string }>(`${explainPrefix}${sql}`, parameters, {
    ...limits,
    maxResultRows: 100,
  });
  const plans = JSON.parse(rows.map(({ explain }) => explain).join('\n')) as { readonly Plan: PlanNode }[];
  return plans.flatMap(({ Plan }) => collectTables(Plan));
};

/**
 * Returns the statements of a query over a range, in execution order, with the engine's plan of each. The query is
 * executed, because later statements depend on earlier results. It needs the same permissions as running the query.
 */
export const explain = async (
  query: QueryRequest,
  reader: QueryReader,
  options: RunContext,
): Promise<ExplainedStatement[]> => {
  const statements = new Map<string, { times: number; tables: z.output<typeof ReadTable>[] }>();
  const { columns } = reader;
  const recordStatement = async (sql: string, parameters?: QueryParameters, limits?: QueryLimits): Promise<void> => {
    const recordedStatement = statements.get(sql);
    if (recordedStatement !== undefined) recordedStatement.times++;
    else {
      const statement = { times: 1, tables: [] as z.output<typeof ReadTable>[] };
      statements.set(sql, statement);
      const { onCost: _, runsOnEachServer: __, ...explainLimits } = limits ?? {};
      statement.tables = await explainStatement(columns, sql, parameters, explainLimits);
    }
  };
  const recordingColumns: TenantColumns = {
    tenantId: columns.tenantId,
    async query(sql, parameters, limits) {
      await recordStatement(sql, parameters, limits);
      return columns.query(sql, parameters, limits);
    },
    async queryNative(sql, parameters, limits) {
      await recordStatement(sql, parameters, limits);
      return columns.queryNative(sql, parameters, limits);
    },
    getStoredUpToMs: (table) => columns.getStoredUpToMs(table),
  };
  await run(query, { ...reader, columns: recordingColumns }, options);
  return [...statements].map(([sql, { times, tables }]) => ({
    sql: sql.replaceAll(/\s+/g, ' ').trim(),
    times,
    tables,
  }));
};
