/** A collection in memory: local writes take effect at once, and deleted documents do not come back. */
import test from 'ava';
import { watchDocuments } from '../../runtime/watch-collection.ts';
import type { DocumentChange, Documents, StoredMetadata } from '../../schemas/ports/documents.ts';

interface Item {
  readonly n: number;
}

const makeItem = (version: number, n = version): Item & StoredMetadata => ({
  id: 'x',
  n,
  version,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
});

/** Documents whose change feed the test controls, with any delay. */
const opened = async (existing?: Item & StoredMetadata) => {
  let notify: (change: DocumentChange<Item>) => void = () => {};
  let findCount = 0;
  let finding: Promise<(Item & StoredMetadata) | undefined> = Promise.resolve(existing);
  const found = () => {
    findCount++;
    return finding;
  };
  const documents = {
    follow: async (_: unknown, onChange: typeof notify) => {
      notify = onChange;
      return { getStaleMs: () => 0, close: async () => {} };
    },
    forTenant: () => ({ collection: () => ({ find: () => found() }) }),
  } as unknown as Documents;
  const changes: (number | undefined)[] = [];
  const items = await watchDocuments<Item>(documents, { name: 'things' }, (_, __, after) => changes.push(after?.n));
  return {
    items,
    changes,
    findCount: () => findCount,
    notify: (document: (Item & StoredMetadata) | undefined) => notify({ tenantId: 'a', id: 'x', document }),
    find(response: Promise<(Item & StoredMetadata) | undefined>) {
      finding = response;
      return items.find('a', 'x');
    },
  };
};

test('a local write takes effect at once, and an older state from the feed does not revert it', async (t) => {
  const { items, notify } = await opened();
  items.apply('a', makeItem(2));
  t.is(items.get('a', 'x')?.n, 2);
  notify(makeItem(1));
  t.is(items.get('a', 'x')?.n, 2);
  notify(makeItem(3));
  t.is(items.get('a', 'x')?.n, 3);
});

test('a local deletion stays in effect, even if the feed delivers earlier changes afterwards', async (t) => {
  const { items, notify } = await opened();
  notify(makeItem(1));
  items.markDeleted('a', 'x');
  t.is(items.get('a', 'x'), undefined);
  notify(makeItem(2));
  t.is(items.get('a', 'x'), undefined);
  notify(undefined);
  t.is(items.get('a', 'x'), undefined);
});

test('a read that started before a deletion does not restore the deleted document', async (t) => {
  const { items, notify, find } = await opened();
  const { promise, resolve } = Promise.withResolvers<Item & StoredMetadata>();
  const found = find(promise);
  notify(makeItem(1));
  notify(undefined);
  resolve(makeItem(1));
  t.is(await found, undefined);
  t.is(items.get('a', 'x'), undefined);
});

test('a document that the feed has not delivered is looked up, and a deleted document is not looked up again', async (t) => {
  const { items, find, notify, findCount } = await opened();
  t.is((await find(Promise.resolve(makeItem(1))))?.n, 1);
  t.is(items.get('a', 'x')?.n, 1);
  notify(undefined);
  t.is(await find(Promise.resolve(makeItem(1))), undefined);
  t.is(findCount(), 1);
});

test('a document that is deleted and recreated with the same id is found again', async (t) => {
  const { items, notify, changes } = await opened();
  notify(makeItem(5));
  notify(undefined);
  notify(makeItem(1));
  t.is(items.get('a', 'x')?.n, 1);
  items.apply('a', makeItem(2));
  t.is(items.get('a', 'x')?.n, 2);
  t.deepEqual(changes, [5, undefined, 1, 2]);
});

test('a recreated document takes effect even if the feed has not delivered the deletion yet', async (t) => {
  const { items, notify } = await opened();
  notify(makeItem(5));
  notify({ ...makeItem(1), createdAt: '2026-02-02T00:00:00.000Z' });
  t.is(items.get('a', 'x')?.n, 1);
  items.apply('a', makeItem(6));
  t.is(items.get('a', 'x')?.n, 1, 'a later state of the one before');
});

test('a document of another organization with the same id is a different document', async (t) => {
  const { items, notify } = await opened();
  notify(makeItem(1));
  t.is(items.get('b', 'x'), undefined);
});
