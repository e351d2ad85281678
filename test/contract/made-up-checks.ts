/** A schedule for tests in which every run is identifiable, and the verification of its runs. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { z } from 'zod';
import { defineSchedule, scheduleTopic } from '../../processors/engine/schedule.ts';
import { decodeSlot, type SavedItem } from '../../processors/engine/schedule-snapshot.ts';
import { computePhase, getNextDueMs, toItemKey, toSlot } from '../../processors/engine/schedule-times.ts';
import type { StateStore } from '../../runtime/states.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { type Documents, defineCollection, type StoredMetadata } from '../../schemas/ports/documents.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { defineDerivedTopic, type Topic } from '../../schemas/topic.ts';

interface Check {
  readonly everyMs: number;
}

type MadeCheck = Check & StoredMetadata & { readonly tenantId: string };

interface Outcome {
  readonly bus: Bus;
  readonly states: Pick<StateStore, 'load'>;
  readonly made: readonly MadeCheck[];
}

const Effect = z.strictObject({ tenantId: z.string(), id: z.string() });
const State = z.strictObject({ runs: z.int(), chain: z.string() });

const chained = (chain: string, dueMs: number): string => createHash('sha1').update(`${chain} ${dueMs}`).digest('hex');

/** Accepts each position of an emitter once, as consumers of derived topics do. */
const effectsOn = async (bus: Bus, topic: Topic): Promise<string[]> => {
  const effects: string[] = [];
  for (const { partition, earliest, end } of await bus.offsets(topic.name)) {
    const highest = new Map<string, [offset: number, part: number]>();
    for await (const { headers, value } of bus.read(topic.name, partition, earliest, end)) {
      const { emitter = '', position = '' } = headers;
      const [offset = 0, part = 0] = position.split('.').map(Number);
      const [offsetBefore, partBefore] = highest.get(emitter) ?? [0, 0];
      if (highest.has(emitter) && (offset < offsetBefore || (offset === offsetBefore && part <= partBefore))) continue;
      highest.set(emitter, [offset, part]);
      for (const { id } of z.array(Effect).parse(JSON.parse(value.toString()))) effects.push(id);
    }
  }
  return effects;
};

const slotKey = (name: string, { tenantId, id }: MadeCheck): string =>
  `schedules/${name}/${toSlot(computePhase(toItemKey(tenantId, id)))}`;

/** A separate schedule for each `id`, whose states are chains of the due times that ran. */
export const madeUpChecks = (id: string) => {
  const checkCollection = defineCollection<Check>({ name: `checks-${id.slice(0, 8)}` });
  const effects = defineDerivedTopic({
    name: `effects.${id}`,
    summary: 'of a test',
    item: Effect,
    partitions: 2,
    embeddedPartitions: 2,
  });
  const schedule = defineSchedule({
    name: `checks-${id}`,
    summary: 'of a test',
    collection: checkCollection,
    everyMs: ({ everyMs }) => everyMs,
    missed: { catchUp: 100_000 },
    state: { version: 1, schema: State, empty: () => ({ runs: 0, chain: '' }) },
    emits: { effects },
    async run(item, { tenantId, dueMs, state, emit }) {
      emit.effects({ tenantId, id: `${item.id}@${dueMs}` });
      await sleep(Math.random() * 3);
      return { runs: state.runs + 1, chain: chained(state.chain, dueMs) };
    },
  });
  const next = ({ tenantId, id: check, everyMs }: MadeCheck, afterMs: number): number =>
    getNextDueMs(computePhase(toItemKey(tenantId, check)), everyMs, afterMs);

  const saved = async (states: Pick<StateStore, 'load'>, check: MadeCheck): Promise<SavedItem | undefined> => {
    const snapshot = await states.load(slotKey(schedule.name, check));
    return snapshot && decodeSlot(snapshot.bytes).items.get(toItemKey(check.tenantId, check.id));
  };

  return {
    schedule,
    saved,
    /** Creates topics, collections and thirty checks of three tenants; the most frequent ones run each `everyMs`. */
    async prepare(bus: Bus, documents: Documents, everyMs: number): Promise<MadeCheck[]> {
      await documents.ensureCollections([checkCollection, processorStates, processorStateChunks]);
      const triggerTopic = scheduleTopic(schedule.name);
      await bus.ensureTopics([{ ...triggerTopic, partitions: 4, embeddedPartitions: 4 }, effects]);
      const created: MadeCheck[] = [];
      for (let index = 0; index < 30; index++) {
        const tenantId = `tenant-${index % 3}`;
        const check = { everyMs: everyMs + 500 * (index % 7) };
        created.push({ ...(await documents.forTenant(tenantId).collection(checkCollection).insert(check)), tenantId });
      }
      return created;
    },
    lastDue: (check: MadeCheck, nowMs: number): number => next(check, nowMs) - check.everyMs,
    /** Verifies that each due time up to the last saved one took effect once, and none after it. Returns the count. */
    async verify(t: ExecutionContext, { bus, states, made }: Outcome): Promise<number> {
      const since = await states.load(`schedules/${schedule.name}/since`);
      const sinceMs = Number(Buffer.from(since?.bytes ?? []).toString());
      const ids: string[] = [];
      for (const check of made) {
        const { dueMs: lastMs = 0, state = '' } = (await saved(states, check)) ?? {};
        const dues: number[] = [];
        const begin = Math.max(sinceMs, Date.parse(check.updatedAt));
        for (let due = next(check, begin); due <= lastMs; due = next(check, due)) dues.push(due);
        t.deepEqual(JSON.parse(state), { runs: dues.length, chain: dues.reduce(chained, '') });
        ids.push(...dues.map((due) => `${check.id}@${due}`));
      }
      t.deepEqual((await effectsOn(bus, effects)).toSorted(), ids.toSorted());
      return ids.length;
    },
  };
};
