/** Moves all rows of a ClickHouse shard to another shard, so that its servers can be removed. */
import { setTimeout as delay } from 'node:timers/promises';
import { PermanentError } from '../schemas/errors.ts';
import type { Columns, ServerColumns } from '../schemas/ports/columns.ts';
import { allTables } from '../schemas/tables/index.ts';
import { quoteString } from '../schemas/tables/literal.ts';
import { placementsPropagationMs, placementsTable } from '../schemas/tables/placements.ts';
import { schemaMigrationsTable } from '../schemas/tables/schema-migrations.ts';
import { buildCreateTable, isMerging, type Table } from '../schemas/tables/table.ts';
import { markShardEmpty } from './clickhouse-forgetting.ts';
import { reportShards } from './clickhouse-shards.ts';

export interface ShardMove {
  readonly cluster: string;
  /** From 1 on, as in `system.clusters` */
  readonly from: number;
  readonly to: number;
  /** Receives progress as readable lines */
  readonly report: (line: string) => void;
}

/** Rows of all shards by table; rows with the same key count once. */
export type RowCounts = ReadonlyMap<string, number>;

/** Per-server tables are not moved. */
const movedTables = allTables.filter((table) => table !== placementsTable && table !== schemaMigrationsTable);
const getFinalClause = (table: Table): string => (isMerging(table) ? ' FINAL' : '');
/** For long statements, which move a day of a table. */
const longStatementLimits = { maxExecutionSeconds: 24 * 3600, maxMemoryBytes: 8 * 1024 ** 3 };

export const countRows = async (columns: Columns): Promise<RowCounts> => {
  const counts = new Map<string, number>();
  for (const table of movedTables) {
    const [row] = await columns.query<{ rows: string }>(
      `SELECT toString(count()) AS rows FROM ${table.name}${getFinalClause(table)}`,
      {},
      longStatementLimits,
    );
    counts.set(table.name, Number(row?.rows));
  }
  return counts;
};

/** Moves one table from one server to another, a partition at a time. */
class TableMove {
  readonly #table: Table;
  readonly #from: ServerColumns;
  readonly #to: ServerColumns;
  readonly #shardMove: ShardMove;

  constructor(table: Table, from: ServerColumns, to: ServerColumns, shardMove: ShardMove) {
    this.#table = table;
    this.#from = from;
    this.#to = to;
    this.#shardMove = shardMove;
  }

  /** Staging table for rows that queries do not read yet. Its comment names the completely copied partition. */
  get #stagingTableName(): string {
    return `moving_${this.#table.name}`;
  }

  get name(): string {
    return this.#table.name;
  }

  /** Resolves with the number of moved rows. */
  async move(): Promise<number> {
    let movedRows = 0;
    for (const partition of await this.#partitions()) {
      await this.#copy(partition);
      movedRows += await this.#verifyCopy(partition);
      await this.#to.execute(`ALTER TABLE ${this.#stagingTableName} MODIFY COMMENT ${quoteString(partition)}`);
      await this.finish();
    }
    return movedRows;
  }

  async #partitions(): Promise<readonly string[]> {
    const rows = await this.#from.query<{ id: string }>(
      `SELECT DISTINCT partition_id AS id FROM system.parts WHERE database = currentDatabase() AND active AND rows > 0 AND table = ${quoteString(this.#table.name)} ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  }

  async #copy(partition: string): Promise<void> {
    const { cluster, from } = this.#shardMove;
    const columns = Object.keys(this.#table.columns)
      .map((name) => `\`${name}\``)
      .join(', ');
    await this.#to.execute(buildCreateTable({ ...this.#table, name: this.#stagingTableName }));
    await this.#to.execute(
      `INSERT INTO ${this.#stagingTableName} (${columns}) SELECT ${columns} FROM cluster(${quoteString(cluster)}, currentDatabase(), ${quoteString(this.#table.name)}) WHERE _shard_num = ${from} AND _partition_id = ${quoteString(partition)}`,
    );
  }

  /** Resolves with the number of rows. Rejects unless both servers have the same number. */
  async #verifyCopy(partition: string): Promise<number> {
    const readDigest = async (
      columns: ServerColumns,
      table: string,
    ): Promise<{ rows: string; digest: string } | undefined> => {
      const names = Object.keys(this.#table.columns).map((name) => `\`${name}\``);
      const [row] = await columns.query<{ rows: string; digest: string }>(
        `SELECT toString(count()) AS rows, toString(sum(cityHash64(${names.join(', ')}))) AS digest FROM ${table}${getFinalClause(this.#table)} WHERE _partition_id = ${quoteString(partition)}`,
        {},
        longStatementLimits,
      );
      return row;
    };
    const [source, copy] = [
      await readDigest(this.#from, this.#table.name),
      await readDigest(this.#to, this.#stagingTableName),
    ];
    if (source?.rows !== copy?.rows || source?.digest !== copy?.digest)
      throw new PermanentError(
        'changed',
        `rows of ${this.#table.name}, partition ${partition}, changed while they were copied (${source?.rows} and ${copy?.rows}): no rows were moved. Processes that started before shard ${this.#shardMove.from} had weight 0 still write there: restart them, and run this again`,
      );
    return Number(copy?.rows);
  }

  /**
   * Switches reads of a completely copied partition to its new location; an incomplete one is copied again. Also
   * completes an interrupted earlier run.
   */
  async finish(): Promise<void> {
    const [stagingTable] = await this.#to.query<{ partition: string }>(
      `SELECT comment AS partition FROM system.tables WHERE database = currentDatabase() AND name = ${quoteString(this.#stagingTableName)}`,
    );
    if (stagingTable === undefined) return;
    if (stagingTable.partition !== '') {
      const id = quoteString(stagingTable.partition);
      await this.#to.execute(
        `ALTER TABLE ${this.#stagingTableName} MOVE PARTITION ID ${id} TO TABLE ${this.#table.name}`,
      );
      await this.#from.execute(`ALTER TABLE ${this.#table.name} DROP PARTITION ID ${id}`);
    }
    await this.#to.execute(`DROP TABLE ${this.#stagingTableName} SYNC`);
  }
}

/**
 * Moves all rows of a shard that receives no new rows (weight 0), one partition of a table at a time. Verifies each copy
 * before it removes the source. Reads and inserts continue; while a partition is switched, its rows may be counted
 * twice. Can be stopped and run again.
 */
export const drainShard = async (columns: Columns, shardMove: ShardMove): Promise<void> => {
  const { cluster, from, to, report } = shardMove;
  const { shards, problems } = await reportShards(columns, cluster);
  const reject = (reason: string): never => {
    throw new PermanentError('not-ready', reason);
  };
  const problem = [...problems, ...shards.flatMap(({ problems: shardProblems }) => shardProblems)][0];
  if (problem !== undefined) reject(problem);
  const source = shards.find(({ shard }) => shard === from) ?? reject(`the cluster has no shard ${from}`);
  const target = shards.find(({ shard }) => shard === to) ?? reject(`the cluster has no shard ${to}`);
  if (source.receivesNewRows)
    reject(
      `shard ${from} gets new rows: give it <weight>0</weight> in remote_servers of all servers, run oiq migrate and restart the roles first`,
    );
  if (!target.receivesNewRows) reject(`shard ${to} has weight 0 itself`);
  const findServer = (name: string): ServerColumns =>
    columns.listServers().find((server) => server.name === name)?.columns ?? reject(`${name} is not named`);
  const tableMoves = movedTables.map(
    (table) => new TableMove(table, findServer(source.server), findServer(target.server), shardMove),
  );
  for (const tableMove of tableMoves) await tableMove.finish();
  const rowsBefore = await countRows(columns);
  // The shard may have rows of any tenant from now on, and every reader must know it first.
  await columns.execute(
    `INSERT INTO ${placementsTable.name} (shards, shard, tenant, landed_in) SELECT 0, ${to - 1}, '', ''`,
  );
  await delay(placementsPropagationMs);
  for (const tableMove of tableMoves) {
    const movedRows = await tableMove.move();
    if (movedRows > 0) report(`${tableMove.name}: ${movedRows} rows moved`);
  }
  const rowsAfter = await countRows(columns);
  for (const [table, rows] of rowsBefore)
    if (rows > 0) report(`${table}: ${rows} rows before, ${rowsAfter.get(table)} after`);
  const incompleteTables = [...rowsBefore]
    .filter(([table, rows]) => (rowsAfter.get(table) ?? 0) < rows)
    .map(([table]) => table);
  if (incompleteTables.length > 0)
    throw new Error(
      `fewer rows than before in ${incompleteTables.join(', ')}: check whether retention or an erasure removed them`,
    );
  await markShardEmpty(columns, from);
};
