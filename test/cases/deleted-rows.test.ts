/** Rows that a deletion only masked are removed from the disk by rewrites that take longer than a request. */
import test from 'ava';
import { removeDeletedRows, startRemovingDeletedRows } from '../../runtime/deleted-rows.ts';
import type { ServerColumns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';

interface ServerState {
  readonly masked: Set<string>;
  /** Unfinished mutations: table → reason of the last failure */
  readonly mutations: Map<string, string>;
  readonly statements: string[];
}

/** A server whose mutations finish after some queries. */
const createServer = (
  state: ServerState,
  { queriesUntilDone = 3, failing = '', maskedMeanwhile = '' } = {},
): ServerColumns => {
  let queryCount = 0;
  return {
    async query<Row>(sql: string): Promise<Row[]> {
      if (failing === 'queries') throw new Error('the server is down');
      if (sql.includes('system.mutations'))
        return Array.from(state.mutations, ([table, reason]) => ({ table, reason })) as Row[];
      if (++queryCount % queriesUntilDone === 0) {
        for (const table of state.mutations.keys())
          if (table !== maskedMeanwhile || state.statements.length > 0) state.masked.delete(table);
        state.mutations.clear();
      }
      return Array.from(state.masked, (table) => ({ table })) as Row[];
    },
    async execute(sql) {
      state.statements.push(sql);
      const [, table = ''] = /ALTER TABLE (\w+) APPLY DELETED MASK/.exec(sql) ?? [];
      if (table === failing) throw new Error('refused');
      state.mutations.set(table, '');
    },
  };
};

const createState = (...tables: string[]): ServerState => ({
  masked: new Set(tables),
  mutations: new Map(),
  statements: [],
});

const createContext = (...servers: ServerColumns[]) => {
  const warnings: string[] = [];
  const log = {
    ...silentLog,
    warn: (fields: object, message: string) => void warnings.push(JSON.stringify([fields, message])),
  };
  const columns = { listServers: () => servers.map((columns, index) => ({ name: `s${index}`, columns })) };
  return { columns, log, warnings };
};

test('the rewrite of a table is not awaited, and not started again while it is running', async (t) => {
  const state = createState('logs', 'spans');
  const context = createContext(createServer(state));
  t.deepEqual(await startRemovingDeletedRows(context), ['logs on s0', 'spans on s0']);
  t.deepEqual(await startRemovingDeletedRows(context), ['logs on s0', 'spans on s0']);
  t.deepEqual(state.statements, [
    'ALTER TABLE logs APPLY DELETED MASK SETTINGS mutations_sync = 0',
    'ALTER TABLE spans APPLY DELETED MASK SETTINGS mutations_sync = 0',
  ]);
  t.deepEqual(await startRemovingDeletedRows(context), []);
  t.deepEqual(context.warnings, []);
});

test('a failure for one table or server is logged, and the others are rewritten', async (t) => {
  const [first, down, last] = [createState('logs', 'spans'), createState('logs'), createState('logs')];
  const context = createContext(
    createServer(first, { failing: 'logs' }),
    createServer(down, { failing: 'queries' }),
    createServer(last),
  );
  await startRemovingDeletedRows(context);
  t.deepEqual([[...first.mutations.keys()], [...last.mutations.keys()]], [['spans'], ['logs']]);
  t.is(context.warnings.length, 2);
});

test('the reason of a failing mutation is logged', async (t) => {
  const state = createState('logs');
  state.mutations.set('logs', 'no space left');
  const context = createContext(createServer(state));
  await startRemovingDeletedRows(context);
  t.deepEqual(state.statements, []);
  t.regex(context.warnings[0] ?? '', /"reason":"no space left".*a mutation fails/);
});

test('rows that were masked during an earlier rewrite are removed too, before the removal ends', async (t) => {
  const state = createState('logs');
  state.mutations.set('logs', '');
  const context = createContext(createServer(state, { maskedMeanwhile: 'logs' }));
  await removeDeletedRows(context);
  t.deepEqual([...state.masked], []);
  t.is(state.statements.length, 1);
});

test('the error for a removal that takes too long names the tables', async (t) => {
  const context = createContext(createServer(createState('logs'), { queriesUntilDone: Number.POSITIVE_INFINITY }));
  await t.throwsAsync(removeDeletedRows(context, { waitMs: 0 }), {
    message: /not removed from the disk yet: logs on s0/,
  });
});
