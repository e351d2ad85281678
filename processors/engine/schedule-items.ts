/** Items of a schedule with due times, by slot. */
import type { ResourceChange } from '../../runtime/resource-cache.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Moments, Schedule } from './schedule.ts';
import { itemKey, phaseOf, sharedPhaseOf, slotCount, slotOf } from './schedule-times.ts';

export interface ScheduleItem {
  readonly key: string;
  readonly tenantId: string;
  readonly phase: number;
  readonly everyMs: number;
  readonly document: object & Stored;
}

const minIntervalMs = 1000;

type ItemTiming = Pick<Schedule, 'name' | 'everyMs' | 'batchMs' | 'within' | 'momentsOf'>;

export class ScheduleItems {
  readonly #schedule: ItemTiming;
  readonly #log: Log;
  readonly #slots = Array.from({ length: slotCount }, () => new Map<string, ScheduleItem>());

  constructor(schedule: ItemTiming, log: Log) {
    this.#schedule = schedule;
    this.#log = log;
  }

  /** Items by key; the map changes in place. */
  of(slot: number): ReadonlyMap<string, ScheduleItem> {
    return this.#slots[slot] ?? new Map();
  }

  /** Applies a change, and returns the slot and key of its item. */
  change({ tenantId, id, after }: ResourceChange<object>): { readonly slot: number; readonly key: string } {
    const key = itemKey(tenantId, id);
    const own = phaseOf(key);
    const slot = slotOf(own);
    const everyMs = after === undefined ? undefined : this.#everyMs(tenantId, after);
    if (after === undefined || everyMs === undefined) {
      this.#slots[slot]?.delete(key);
      return { slot, key };
    }
    const moments = this.#momentsOf(after);
    const phase = moments === undefined ? own : sharedPhaseOf(tenantId, key, { everyMs, ...moments });
    this.#slots[slot]?.set(key, { key, tenantId, phase, everyMs, document: after });
    return { slot, key };
  }

  #momentsOf(document: object & Stored): Moments | undefined {
    const { batchMs, within, momentsOf } = this.#schedule;
    if (momentsOf !== undefined) return momentsOf(document);
    return batchMs === undefined ? undefined : { batchMs, ...(within !== undefined && { within }) };
  }

  #everyMs(tenantId: string, document: object & Stored): number | undefined {
    try {
      const every = this.#schedule.everyMs(document);
      return every === undefined ? undefined : Math.max(minIntervalMs, Math.round(every));
    } catch (error) {
      this.#log.warn(
        { error, schedule: this.#schedule.name, tenantId, id: document.id },
        'an item has no interval and does not run',
      );
      return undefined;
    }
  }
}
