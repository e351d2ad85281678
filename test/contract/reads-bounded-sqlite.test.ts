import { StatementSync } from 'node:sqlite';
import type { World } from './example.ts';
import { foreignDocuments, readsAreBounded } from './reads-bounded.ts';

let rows = 0;
const { get, all, iterate } = StatementSync.prototype;
// Counts the rows that the driver returns, including rows that a filter then skips.
const counted = {
  get(this: StatementSync, ...parameters: unknown[]) {
    rows += 1;
    return Reflect.apply(get, this, parameters);
  },
  all(this: StatementSync, ...parameters: unknown[]) {
    const found: unknown[] = Reflect.apply(all, this, parameters);
    rows += found.length;
    return found;
  },
  *iterate(this: StatementSync, ...parameters: unknown[]) {
    for (const row of Reflect.apply(iterate, this, parameters)) {
      rows += 1;
      yield row;
    }
  },
};
Object.assign(StatementSync.prototype, counted);

const perTransaction = 1_000;
const fill = async ({ harness }: World): Promise<void> => {
  for (const { definition, tenantId, documents } of foreignDocuments())
    for (let first = 0; first < documents.length; first += perTransaction)
      await harness.documents.transaction(async ({ forTenant }) => {
        const stored = forTenant(tenantId).collection(definition);
        for (const { id, fields } of documents.slice(first, first + perTransaction))
          await stored.insert({ ...fields, id });
      });
};

readsAreBounded('sqlite', async () => ({
  options: {},
  filled: fill,
  async read() {
    const count = rows;
    rows = 0;
    return count;
  },
}));
