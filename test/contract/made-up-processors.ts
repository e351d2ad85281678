/** Processors for tests of the engine; threads load this module. */
import { z } from 'zod';
import { defineProcessor, type Processor } from '../../processors/engine/definition.ts';
import { keyedState } from '../../processors/engine/state.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { defineCollection } from '../../schemas/ports/documents.ts';
import { createItemSource } from '../../schemas/records/values.ts';
import { defineDerivedTopic } from '../../schemas/topic.ts';
import { visitCounter } from '../cases/made-up-processor.ts';
import { useCpu } from '../cpu-time.ts';

const Word = z.strictObject({ tenantId: z.string(), word: z.string() });

export const words = defineDerivedTopic({ name: 'test-words', summary: 'Words', item: Word });
export const shouts = defineDerivedTopic({ name: 'test-shouts', summary: 'Words in capitals', item: Word });
export const marks = defineCollection<{ mark: string }>({ name: 'test-marks' });

/** Effects of special words. */
const effects: Readonly<Record<string, () => void>> = {
  broken() {
    throw new TypeError('a fault of the step');
  },
  refused() {
    throw new PermanentError('bad-word', 'not a word');
  },
  endless() {
    for (;;);
  },
  fatal() {
    const retainedArrays: unknown[] = [];
    for (;;) retainedArrays.push(new Array(10_000_000).fill(retainedArrays.length));
  },
};

const shouter = defineProcessor({
  name: 'test-shouts',
  summary: 'Shouts each word',
  reads: createItemSource(words),
  emits: { shouts },
  follows: { marks },
  limits: { stateBytes: 100_000 },
  state: keyedState<string>({ version: 1, maxEntries: 1_000 }),
  step({ word }, { tenantId, state, emit, follows, drop, setTimer, clockMs }) {
    effects[word]?.();
    if (word === 'unwanted') drop('unwanted');
    else if (word === 'large') state.set('large', 'x'.repeat(100_000));
    else if (word === 'endless-timer') setTimer('clock', clockMs);
    else
      emit.shouts({
        tenantId,
        word: word.toUpperCase() + [...follows.marks.values()].map(({ mark }) => mark).join(''),
      });
  },
  timer() {
    for (;;);
  },
});

/** Emits how often it saw each word, for tenants with the entitlement. */
const entitled = defineProcessor({
  name: 'test-entitled',
  summary: 'Shouts words of those who may',
  reads: createItemSource(words),
  emits: { shouts },
  entitlement: 'shouting',
  step: ({ tenantId, word }, { emit }) => emit.shouts({ tenantId, word }),
});

/** Period from which the state of tallies is rebuilt. */
export const rebuildMs = 600_000;

/** Emits how often the word has occurred so far. */
const tallies = defineProcessor({
  name: 'test-tallies',
  summary: 'Counts words',
  reads: createItemSource(words),
  emits: { shouts },
  state: { ...keyedState<number>({ version: 1, maxEntries: 1_000 }), rebuildMs },
  step({ tenantId, word }, { state, emit }) {
    const count = (state.get(word) ?? 0) + 1;
    state.set(word, count);
    emit.shouts({ tenantId, word: `${word}${count}` });
  },
});

/** Takes 10 ms per word. */
const slow = defineProcessor({
  name: 'test-slow',
  summary: 'Takes time',
  reads: createItemSource(words),
  step() {
    const endMs = performance.now() + 10;
    while (performance.now() < endMs);
  },
});

/** CPU time of a snapshot of `test-heavy`. */
export const heavyMs = 30;

/** A tick is always due, and saving the state takes long. */
const heavy = defineProcessor({
  name: 'test-heavy',
  summary: 'Saves slowly',
  reads: createItemSource(words),
  state: {
    ...keyedState<number>({ version: 1, maxEntries: 10 }),
    save() {
      useCpu(heavyMs);
      return Buffer.from('[]');
    },
  },
  step: (_, { clockMs, setTimer }) => setTimer('clock', clockMs + 1),
  timer: (_, { clockMs, setTimer }) => setTimer('clock', clockMs + 1),
});

export const quick = ['test-quick-1', 'test-quick-2', 'test-quick-3', 'test-quick-4'];

export const processors: readonly Processor[] = [
  ...[shouter, entitled, tallies, visitCounter, slow, heavy],
  ...quick.map((name) =>
    defineProcessor({ name, summary: 'Takes none', reads: createItemSource(words), step: () => undefined }),
  ),
];
