/** Suites of the API that ran over the engine in the process, over a ClickHouse server. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { clickhouseColumns } from '../../adapters/columns-clickhouse.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { startServices, unavailable } from '../services/services.ts';
import { useColumns } from './api-harness.ts';

/** A database of its own, which goes when the columns are closed. */
const openServed = async (): Promise<Columns> => {
  const database = `api_${randomUUID().slice(0, 8)}`;
  const server = (await startServices(['clickhouse'])).url('clickhouse');
  const columns = await clickhouseColumns({ url: `${server}/${database}` });
  return new Proxy(columns, {
    get(target, name) {
      if (name === 'close')
        return async () => {
          await target.execute(`DROP DATABASE ${database}`);
          await target.close();
        };
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
};

/** Registers the tests of a suite, to run over a ClickHouse server. */
export const overServedColumns = async (suite: () => Promise<unknown>): Promise<void> => {
  const reason = unavailable('clickhouse');
  if (reason !== undefined) {
    test.skip(`clickhouse: ${reason}`, () => undefined);
    return;
  }
  useColumns(openServed);
  await suite();
};
