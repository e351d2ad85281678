/** A collection in memory: what this instance wrote counts at once, and nothing that is gone comes back. */
import test from 'ava';
import { followed } from '../../runtime/followed.ts';
import type { Change, Documents, Stored } from '../../schemas/ports/documents.ts';

interface Thing {
  readonly n: number;
}

const thing = (version: number, n = version): Thing & Stored => ({
  ...{ id: 'x', n, version },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' },
});

/** Documents whose feed the test tells, as late as it likes. */
const opened = async (there?: Thing & Stored) => {
  let tell: (change: Change<Thing>) => void = () => {};
  let asked = 0;
  let finding: Promise<(Thing & Stored) | undefined> = Promise.resolve(there);
  const found = () => {
    asked++;
    return finding;
  };
  const documents = {
    follow: async (_: unknown, onChange: typeof tell) => {
      tell = onChange;
      return { staleMs: () => 0, close: async () => {} };
    },
    of: () => ({ collection: () => ({ find: () => found() }) }),
  } as unknown as Documents;
  const changes: (number | undefined)[] = [];
  const things = await followed<Thing>(documents, { name: 'things' }, (_, __, after) => changes.push(after?.n));
  return {
    things,
    changes,
    asked: () => asked,
    tell: (document: (Thing & Stored) | undefined) => tell({ tenantId: 'a', id: 'x', document }),
    find(answer: Promise<(Thing & Stored) | undefined>) {
      finding = answer;
      return things.find('a', 'x');
    },
  };
};

test('what was written here counts at once, and an older state from the feed does not undo it', async (t) => {
  const { things, tell } = await opened();
  things.learn('a', thing(2));
  t.is(things.get('a', 'x')?.n, 2);
  tell(thing(1));
  t.is(things.get('a', 'x')?.n, 2);
  tell(thing(3));
  t.is(things.get('a', 'x')?.n, 3);
});

test('what was ended here stays ended, though the feed still tells of changes before it', async (t) => {
  const { things, tell } = await opened();
  tell(thing(1));
  things.forget('a', 'x');
  t.is(things.get('a', 'x'), undefined);
  tell(thing(2));
  t.is(things.get('a', 'x'), undefined);
  tell(undefined);
  t.is(things.get('a', 'x'), undefined);
});

test('a read that began before a removal does not bring the removed back', async (t) => {
  const { things, tell, find } = await opened();
  const { promise, resolve } = Promise.withResolvers<Thing & Stored>();
  const found = find(promise);
  tell(thing(1));
  tell(undefined);
  resolve(thing(1));
  t.is(await found, undefined);
  t.is(things.get('a', 'x'), undefined);
});

test('what the feed has not told of is asked for, and what is gone is not asked for again', async (t) => {
  const { things, find, tell, asked } = await opened();
  t.is((await find(Promise.resolve(thing(1))))?.n, 1);
  t.is(things.get('a', 'x')?.n, 1);
  tell(undefined);
  t.is(await find(Promise.resolve(thing(1))), undefined);
  t.is(asked(), 1);
});

test('what is removed and made anew under the same id is there again', async (t) => {
  const { things, tell, changes } = await opened();
  tell(thing(5));
  tell(undefined);
  tell(thing(1));
  t.is(things.get('a', 'x')?.n, 1);
  things.learn('a', thing(2));
  t.is(things.get('a', 'x')?.n, 2);
  t.deepEqual(changes, [5, undefined, 1, 2]);
});

test('what was made anew counts, though the feed had no time to tell of the removal', async (t) => {
  const { things, tell } = await opened();
  tell(thing(5));
  tell({ ...thing(1), createdAt: '2026-02-02T00:00:00.000Z' });
  t.is(things.get('a', 'x')?.n, 1);
  things.learn('a', thing(6));
  t.is(things.get('a', 'x')?.n, 1, 'a later state of the one before');
});

test('another organization’s document of the same id is another', async (t) => {
  const { things, tell } = await opened();
  tell(thing(1));
  t.is(things.get('b', 'x'), undefined);
});
