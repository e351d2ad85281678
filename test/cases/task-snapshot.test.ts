/** Snapshots of tasks are read as they were written, including those of the former version. */
import test from 'ava';
import { z } from 'zod';
import { codedState, combinedState, keyedState } from '../../processors/engine/state.ts';
import { decodeTask, encodeTask, type SavedTask, toChunks } from '../../processors/engine/task-snapshot.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const outbox = [
  { topic: 'one', key: 'acme/1', value: bytesOf('[{"a":"ü"}]'), headers: { tenant: 'acme', position: '7.1' } },
  { topic: 'two', key: '', value: bytesOf('[]'), headers: {} },
];
const tenants = ['acme', 'other'].map((id) => ({
  id,
  latestMs: 1,
  watermarkMs: Number.NEGATIVE_INFINITY,
  seenMs: 3,
  limit: undefined,
  timers: [{ kind: 'clock' as const, dueMs: 5, key: 'k' }],
  state: bytesOf(`state of ${id}`),
}));
const head = { stateVersion: 2, emitter: 'e', nextOffset: 8, tick: 4, skipped: [9], positions: [['x', 1, 2]] } as const;
const task: SavedTask = { ...head, clockMs: 11, outbox, tenants };

const plain = ({ outbox: messages, tenants: all, ...rest }: SavedTask): unknown => ({
  ...rest,
  outbox: messages.map(({ value, ...message }) => ({ ...message, value: Buffer.from(value).toString() })),
  tenants: all.map(({ state, ...tenant }) => ({ ...tenant, state: Buffer.from(state).toString() })),
});

/** The format of the former version, with emitted values as text within the JSON. */
const formerBytes = (): Uint8Array => {
  const json = Buffer.from(
    JSON.stringify({
      format: 1,
      ...head,
      clockMs: 11,
      outbox: outbox.map(({ topic, key, value, headers }) => [topic, key, Buffer.from(value).toString(), headers]),
      tenants: tenants.map(({ id, state }) => [id, 1, null, 3, null, [[0, 5, 'k']], state.length]),
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json, ...tenants.map(({ state }) => state)]);
};

test('a snapshot is read back as it was written', (t) => {
  t.deepEqual(plain(decodeTask(encodeTask(task))), plain(task));
  t.deepEqual(plain(decodeTask(formerBytes())), plain(task));
});

test('large states are saved as the consecutive JSON of their entries', (t) => {
  const form = { restore: (value: string) => value, json: (value: string) => JSON.stringify(value), weigh: () => 1 };
  const definition = combinedState(1, {
    texts: codedState({ version: 1, maxEntries: 10_000, schema: z.string(), form }),
    none: keyedState<string>({ version: 1, maxEntries: 10 }),
    numbers: keyedState<number>({ version: 1, maxEntries: 10_000 }),
  });
  const state = definition.open();
  const entries = Array.from({ length: 5_000 }, (_, index) => [`ü "${index}" \ud800`, `é${index}`] as const);
  for (const [index, [key, value]] of entries.entries()) {
    state.texts.set(key, value);
    state.numbers.set(key, index);
  }
  const large = tenants.map((tenant) => ({ ...tenant, state: definition.save(state) }));
  for (const { state: saved } of decodeTask(encodeTask({ ...task, tenants: large })).tenants) {
    const again = definition.open(new Uint8Array(saved));
    t.deepEqual([...again.texts.entries()], entries);
    t.deepEqual([...again.none.entries()], []);
    t.deepEqual([...again.numbers.entries()], [...state.numbers.entries()]);
    t.deepEqual(Buffer.concat(toChunks(definition.save(again))), Buffer.from(saved));
    t.true(Buffer.from(saved).includes(JSON.stringify(entries)));
  }
});

test('a snapshot that is truncated or has a later version is refused', (t) => {
  const bytes = encodeTask(task);
  t.throws(() => decodeTask(bytes.subarray(0, bytes.length - 1)), { message: /should have/ });
  const later = Buffer.from(bytes);
  later.write('"format":9', later.indexOf('"format":2'));
  t.throws(() => decodeTask(later), { message: /format 9 cannot be read/ });
});
