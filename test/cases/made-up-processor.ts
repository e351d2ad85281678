/**
 * A processor that uses all features of the engine: windows, keyed state, both kinds of timers, configuration, poison.
 */
import { z } from 'zod';
import { defineProcessor } from '../../processors/engine/definition.ts';
import { combinedState, keyedState } from '../../processors/engine/state.ts';
import { windowedState } from '../../processors/engine/windows.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { defineCollection } from '../../schemas/ports/documents.ts';
import { createItemSource } from '../../schemas/records/values.ts';
import { defineDerivedTopic } from '../../schemas/topic.ts';

export const visits = defineDerivedTopic({
  name: 'test-visits',
  summary: 'Visits to pages',
  item: z.strictObject({ tenantId: z.string(), page: z.string(), timeMs: z.number(), serial: z.int() }),
  keyOf: ({ page }) => page,
  timeOf: ({ timeMs }) => timeMs,
});
export type Visit = z.output<(typeof visits)['item']>;

export const visitCounts = defineDerivedTopic({
  name: 'test-visit-counts',
  summary: 'Visits by page and minute, firsts, and silences',
  item: z.strictObject({
    tenantId: z.string(),
    kind: z.enum(['count', 'first', 'silence']),
    page: z.string(),
    timeMs: z.number(),
    visits: z.int(),
  }),
  keyOf: ({ page }) => page,
});

export const ignoredPages = defineCollection<{ page: string }>({ name: 'test-ignored-pages' });

/** A page without a visit for this time, by the clock of the bus, is silent. */
const silenceMs = 90_000;

/** Counts visits by page and minute; emits the first visit of a page, and the end of visits. */
export const visitCounter = defineProcessor({
  name: 'test-visit-counts',
  summary: 'Visits by page and minute',
  reads: createItemSource(visits),
  emits: { counts: visitCounts },
  follows: { ignored: ignoredPages },
  latenessMs: 10_000,
  state: combinedState(1, {
    pages: keyedState<{ total: number }>({ version: 1, maxEntries: 30 }),
    minutes: windowedState<number>({ version: 1, lengthMs: 60_000, maxEntries: 10_000 }),
  }),
  step({ page, timeMs }, context) {
    const { tenantId, state, follows, emit, setTimer, drop, clockMs } = context;
    if (page === 'poison') throw new PermanentError('bad-page', 'no such page');
    if (follows.ignored.has(page)) {
      drop('ignored');
      return;
    }
    const known = state.pages.get(page);
    state.pages.set(page, { total: (known?.total ?? 0) + 1 });
    if (known === undefined) emit.counts({ tenantId, kind: 'first', page, timeMs, visits: 1 });
    state.minutes.add(context, timeMs, page, (count = 0) => count + 1);
    setTimer('clock', clockMs + silenceMs, page);
  },
  timer({ kind, key, dueMs }, { tenantId, state, emit, watermarkMs }) {
    if (kind === 'clock') {
      const total = state.pages.get(key)?.total ?? 0;
      emit.counts({ tenantId, kind: 'silence', page: key, timeMs: dueMs, visits: total });
      return;
    }
    for (const { key: page, startMs, value } of state.minutes.removeClosed(watermarkMs)) {
      emit.counts({ tenantId, kind: 'count', page, timeMs: startMs, visits: value });
    }
  },
});
