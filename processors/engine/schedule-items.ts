/** Items of a schedule with due times, by slot. */
import type { ResourceChange } from '../../runtime/resource-cache.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { DueTiming, Schedule } from './schedule.ts';
import { computePhase, computeSharedPhase, slotCount, toItemKey, toSlot } from './schedule-times.ts';

export interface ScheduleItem {
  readonly key: string;
  readonly tenantId: string;
  readonly phase: number;
  readonly everyMs: number;
  readonly document: object & StoredMetadata;
}

const minIntervalMs = 1000;

type ItemTiming = Pick<Schedule, 'name' | 'everyMs' | 'batchMs' | 'within' | 'listDueTimes'>;

export class ScheduleItems {
  readonly #schedule: ItemTiming;
  readonly #log: Log;
  readonly #slots = Array.from({ length: slotCount }, () => new Map<string, ScheduleItem>());

  constructor(schedule: ItemTiming, log: Log) {
    this.#schedule = schedule;
    this.#log = log;
  }

  /** Items by key; the map changes in place. */
  getItems(slot: number): ReadonlyMap<string, ScheduleItem> {
    return this.#slots[slot] ?? new Map();
  }

  /** Applies a change, and returns the slot and key of its item. */
  applyChange({ tenantId, id, after }: ResourceChange<object>): { readonly slot: number; readonly key: string } {
    const key = toItemKey(tenantId, id);
    const itemPhase = computePhase(key);
    const slot = toSlot(itemPhase);
    const everyMs = after === undefined ? undefined : this.#readInterval(tenantId, after);
    if (after === undefined || everyMs === undefined) {
      this.#slots[slot]?.delete(key);
      return { slot, key };
    }
    const dueTiming = this.#readDueTiming(after);
    const phase = dueTiming === undefined ? itemPhase : computeSharedPhase(tenantId, key, { everyMs, ...dueTiming });
    this.#slots[slot]?.set(key, { key, tenantId, phase, everyMs, document: after });
    return { slot, key };
  }

  #readDueTiming(document: object & StoredMetadata): DueTiming | undefined {
    const { batchMs, within, listDueTimes } = this.#schedule;
    if (listDueTimes !== undefined) return listDueTimes(document);
    return batchMs === undefined ? undefined : { batchMs, ...(within !== undefined && { within }) };
  }

  #readInterval(tenantId: string, document: object & StoredMetadata): number | undefined {
    try {
      const intervalMs = this.#schedule.everyMs(document);
      return intervalMs === undefined ? undefined : Math.max(minIntervalMs, Math.round(intervalMs));
    } catch (error) {
      this.#log.warn(
        { error, schedule: this.#schedule.name, tenantId, id: document.id },
        'an item has no interval and does not run',
      );
      return undefined;
    }
  }
}
