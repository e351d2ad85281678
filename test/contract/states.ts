/** Contract of state snapshots with every documents store. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { collections } from '../../api/collections.ts';
import { DamagedStateError, openStates, type Snapshot, type StateStore } from '../../runtime/states.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { ConflictError, type Documents, platformTenant } from '../../schemas/ports/documents.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';

const clock = systemClock;
const freshKey = (): string => `processors.made-up/otlp.logs/${randomUUID()}`;
/** Bytes that do not compress: they fill several chunks. */
const several = (): Buffer => randomBytes(3_000_000);

/** `t.deepEqual` takes seconds for megabytes. */
const areEqual = (loaded: Snapshot | undefined, bytes: Uint8Array | undefined): boolean =>
  loaded !== undefined && bytes !== undefined && Buffer.compare(loaded.bytes, bytes) === 0;

/** Resolves with the number, or with `conflict`. */
const outcome = async (saving: Promise<number>): Promise<number | 'conflict'> =>
  saving.catch((error: unknown) => {
    if (error instanceof ConflictError && error.kind === 'version') return 'conflict';
    throw error;
  });

/** Tests run serially: twenty concurrent tests on a busy machine make operations exceed their time limit. */
export const statesContract = (
  name: string,
  {
    open,
    store,
  }: {
    /** Two instances, if the store can be opened twice. */
    open(): Promise<readonly [Documents, Documents]>;
    /** Arguments with which a program opens the same store. */
    store(): Promise<readonly string[]>;
  },
): void => {
  const opened: Documents[] = [];
  let documents: Documents;
  let one: StateStore;
  let other: StateStore;
  test.before(`${name}: the store is open`, async () => {
    const [first, second] = await open();
    documents = first;
    opened.push(first, second);
    await documents.ensureCollections(collections);
    one = openStates({ documents: first, clock });
    other = openStates({ documents: second, clock });
  });

  test.after.always(() => Promise.all([...new Set(opened)].map((each) => each.close())));

  const chunkIds = async (key: string): Promise<readonly string[]> => {
    const stored = documents.forTenant(platformTenant).collection(processorStateChunks);
    const { items } = await stored.list({ filter: { id: { $gt: `${key}#`, $lt: `${key}$` } }, limit: 1_000 });
    return items.map(({ id }) => id);
  };
  /** Chunks of the current snapshot. */
  const chunksOf = async (key: string): Promise<number> =>
    (await documents.forTenant(platformTenant).collection(processorStates).find(key))?.chunks ?? 0;

  const contents: readonly (readonly [what: string, bytes: Uint8Array])[] = [
    ['no bytes', new Uint8Array()],
    ['a hundred bytes', randomBytes(100)],
    ['as much as lies in one document', randomBytes(64_000)],
    ['a little more', randomBytes(70_000)],
    ['many chunks', randomBytes(8_000_000)],
    ['what compresses well', Buffer.alloc(64 * 1024 * 1024, 'state ')],
    ['a part of a larger memory', randomBytes(1_000).subarray(100, 200)],
  ];
  for (const [what, bytes] of contents) {
    test.serial(`${name}: ${what} is loaded as it was saved, with its version number`, async (t) => {
      const key = freshKey();
      const number = await one.save(key, bytes, undefined);
      const loaded = await other.load(key);
      t.is(loaded?.number, number);
      t.true(areEqual(loaded, bytes));
      t.is(await other.getNumber(key), number);
    });
  }

  test.serial(`${name}: a snapshot that was never saved is not found`, async (t) => {
    const key = freshKey();
    t.is(await one.load(key), undefined);
    t.is(await one.getNumber(key), undefined);
    await one.remove(key);
    t.is(await outcome(one.save(key, several(), 7)), 'conflict');
    t.deepEqual(await chunkIds(key), []);
  });

  test.serial(
    `${name}: a save replaces the previous one, of whatever size, and leaves none of its chunks`,
    async (t) => {
      const key = freshKey();
      let number: number | undefined;
      for (const bytes of [
        several(),
        randomBytes(5_000_000),
        randomBytes(10),
        several(),
        new Uint8Array(),
        several(),
      ]) {
        const next = await one.save(key, bytes, number);
        t.true(number === undefined || next > number);
        number = next;
        t.true(areEqual(await one.load(key), bytes));
        t.is((await chunkIds(key)).length, await chunksOf(key));
      }
    },
  );

  test.serial(`${name}: keys with a common prefix do not affect each other`, async (t) => {
    const key = freshKey();
    const keys = [key, `${key}0`, `${key}/0`, `${key}-`];
    const saved = new Map<string, Buffer>();
    for (const each of keys) {
      saved.set(each, several());
      await one.save(each, saved.get(each) ?? Buffer.alloc(0), undefined);
    }
    await one.remove(key);
    t.is(await one.load(key), undefined);
    for (const each of keys.slice(1)) t.true(areEqual(await one.load(each), saved.get(each)));
  });

  test.serial(
    `${name}: one of two concurrent saves of the same number succeeds, a hundred times, and readers never see a mix`,
    async (t) => {
      const key = freshKey();
      let number: number | undefined;
      let isOver = false;
      /** Each snapshot is one half repeated. In a mix, the halves would differ. */
      const doubled = (bytes: number): Buffer => {
        const half = randomBytes(bytes);
        return Buffer.concat([half, half]);
      };
      const countReads = async (): Promise<number> => {
        let reads = 0;
        for (; !isOver; reads++) {
          const bytes = (await other.load(key))?.bytes ?? new Uint8Array();
          const middle = bytes.length >> 1;
          t.is(Buffer.compare(bytes.subarray(0, middle), bytes.subarray(middle)), 0);
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        return reads;
      };
      const reads = countReads();
      for (let round = 0; round < 100; round++) {
        const bytes = [one, other].map(() => doubled(round % 10 === 0 ? 1_000_000 : 500));
        const saves = [one, other].map((states, index) =>
          outcome(states.save(key, bytes[index] ?? Buffer.of(), number)),
        );
        const outcomes = await Promise.all(saves);
        const winner = outcomes.findIndex((each) => each !== 'conflict');
        number = await one.getNumber(key);
        t.deepEqual(outcomes[winner], number);
        t.is(outcomes[1 - winner], 'conflict');
        t.true(areEqual(await one.load(key), bytes[winner]));
        t.is((await chunkIds(key)).length, await chunksOf(key));
      }
      isOver = true;
      t.true((await reads) > 0);
    },
  );

  test.serial(`${name}: a snapshot that is replaced while it is read is read again`, async (t) => {
    const key = freshKey();
    const number = await one.save(key, several(), undefined);
    const bytes = several();
    let replaced: Promise<number> | undefined;
    const slow: Pick<Documents, 'forTenant'> = {
      forTenant: (tenantId) => ({
        tenantId,
        collection(definition) {
          const collection = documents.forTenant(tenantId).collection(definition);
          const find: typeof collection.find = async (id) => {
            replaced ??= id.startsWith(`${key}#`) ? one.save(key, bytes, number) : undefined;
            await replaced;
            return collection.find(id);
          };
          return { ...collection, find };
        },
      }),
    };
    const loaded = await openStates({ documents: slow, clock }).load(key);
    t.is(loaded?.number, await replaced);
    t.true(areEqual(loaded, bytes));
  });

  test.serial(
    `${name}: a process that paused while others saved, removed and saved again cannot overwrite them`,
    async (t) => {
      const key = freshKey();
      const paused = await one.save(key, several(), undefined);
      const next = await other.save(key, several(), paused);
      t.is(await outcome(one.save(key, several(), paused)), 'conflict');
      t.is(await outcome(one.save(key, several(), undefined)), 'conflict');
      await other.remove(key);
      t.is(await outcome(one.save(key, several(), next)), 'conflict');
      const versionAfterRemoval = await other.save(key, several(), undefined);
      t.true(versionAfterRemoval > next);
      t.is(await outcome(one.save(key, several(), next)), 'conflict');
      t.is((await chunkIds(key)).length, await chunksOf(key));
    },
  );

  test.serial(`${name}: a removed snapshot is gone, with its chunks`, async (t) => {
    const key = freshKey();
    await one.save(key, several(), undefined);
    await other.remove(key);
    t.is(await one.load(key), undefined);
    t.deepEqual(await chunkIds(key), []);
  });

  const damages: readonly (readonly [what: string, fault: RegExp, damage: (key: string) => Promise<unknown>])[] = [
    [
      'a chunk is missing',
      /chunk 2 of \d is missing/,
      async (key) =>
        documents
          .forTenant(platformTenant)
          .collection(processorStateChunks)
          .delete((await chunkIds(key))[1] ?? ''),
    ],
    [
      'a chunk was changed',
      /differ from those that were saved/,
      async (key) => {
        const stored = documents.forTenant(platformTenant).collection(processorStateChunks);
        const [id = ''] = await chunkIds(key);
        const bytes = Buffer.from((await stored.find(id))?.bytes ?? '', 'base64');
        bytes[5_000] = (bytes[5_000] ?? 0) ^ 1;
        await stored.update(id, { bytes: bytes.toString('base64') });
      },
    ],
    [
      'chunks were confused',
      /differ from those that were saved/,
      async (key) => {
        const stored = documents.forTenant(platformTenant).collection(processorStateChunks);
        const [first = '', second = ''] = await chunkIds(key);
        await stored.update(second, { bytes: (await stored.find(first))?.bytes ?? '' });
      },
    ],
    [
      'its end was cut off',
      /differ from those that were saved|bytes are left/,
      async (key) => {
        const chunks = await chunksOf(key);
        await documents
          .forTenant(platformTenant)
          .collection(processorStates)
          .update(key, { chunks: chunks - 1 });
      },
    ],
  ];
  for (const [what, fault, damage] of damages) {
    test.serial(
      `${name}: a load fails with the key and the remedy when ${what}, and a new snapshot can be saved`,
      async (t) => {
        const key = freshKey();
        const number = await one.save(key, several(), undefined);
        await damage(key);
        const error = await t.throwsAsync(other.load(key), { instanceOf: DamagedStateError });
        t.true(error?.message.startsWith(`the saved state ${key} is damaged: `));
        t.regex(error?.message ?? '', fault);
        t.regex(error?.message ?? '', /Restore the documents from a backup, or remove this state/);
        t.true(error?.message.endsWith(`oiq processor-state remove ${key}`));
        const bytes = several();
        await one.save(key, bytes, number);
        t.true(areEqual(await other.load(key), bytes));
      },
    );
  }

  for (const [moment, saved] of [
    ['between two chunks', 'the one before'],
    ['before it is current', 'the one before'],
    ['once it is current', 'the new one'],
  ] as const) {
    test.serial(`${name}: killed ${moment}, a save leaves ${saved} and nothing else after the next save`, async (t) => {
      const key = freshKey();
      const before = several();
      const number = await one.save(key, before, undefined);
      await killedWhileSaving([...(await store()), key, String(number), moment]);
      const loaded = await other.load(key);
      if (saved === 'the one before') t.true(loaded?.number === number && areEqual(loaded, before));
      else t.true(loaded !== undefined && loaded.number > number && loaded.bytes.length === 2_500_000);
      t.true((await chunkIds(key)).length > (await chunksOf(key)));
      const bytes = several();
      await one.save(key, bytes, loaded?.number);
      t.true(areEqual(await other.load(key), bytes));
      t.is((await chunkIds(key)).length, await chunksOf(key));
    });
  }
};

/** Runs the program until it reports that it has reached the moment of the kill. */
const killedWhileSaving = async (args: readonly string[]): Promise<void> => {
  const program = fileURLToPath(new URL('./states-killed.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const firstOutput = child.stdout === null ? exited : Promise.race([once(child.stdout, 'data'), exited]);
  await firstOutput;
  child.kill('SIGKILL');
  await exited;
};
