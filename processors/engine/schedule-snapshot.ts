/** How a slot's snapshot lies in bytes: JSON, in which the states are texts already. */

import type { Message } from '../../schemas/ports/bus.ts';
import { restoredMessages, type SavedMessage, savedMessages } from './emissions.ts';
import type { Schedule } from './schedule.ts';

/** What is kept of one thing. */
export interface SavedItem {
  /** When its document was made: another one of the same id begins anew. */
  readonly born: string;
  /** The last due time that was run. */
  readonly dueMs: number;
  /** JSON. */
  readonly state: string;
}

export interface SavedSlot {
  readonly stateVersion: number;
  readonly emitter: string;
  /** Saves that emitted something. */
  readonly emitted: number;
  /** Emitted by the last save, and perhaps not published yet. */
  readonly outbox: readonly Message[];
  readonly items: ReadonlyMap<string, SavedItem>;
}

const format = 1;

export const encodeSlot = ({ items, outbox, ...slot }: SavedSlot): Uint8Array => {
  const head = JSON.stringify({ format, ...slot, outbox: savedMessages(outbox) });
  const rows = [...items].map(([key, { born, dueMs, state }]) => `[${JSON.stringify([key, born, dueMs])},${state}]`);
  return Buffer.from(`[${head},[${rows.join(',')}]]`);
};

/** Throws for what `encodeSlot` did not write. */
export const decodeSlot = (bytes: Uint8Array): SavedSlot => {
  const [{ format: written, outbox, ...slot }, rows] = JSON.parse(Buffer.from(bytes).toString('utf8')) as [
    Omit<SavedSlot, 'outbox' | 'items'> & { readonly format: number; readonly outbox: readonly SavedMessage[] },
    [[key: string, born: string, dueMs: number], state: unknown][],
  ];
  if (written !== format)
    throw new Error(`a snapshot of format ${written} cannot be read: this version reads ${format}`);
  return {
    ...slot,
    outbox: restoredMessages(outbox),
    items: new Map(rows.map(([[key, born, dueMs], state]) => [key, { born, dueMs, state: JSON.stringify(state) }])),
  };
};

/** A state as this version has it. */
export const currentState = ({ state }: Schedule, saved: string, savedVersion: number): string =>
  state.version === savedVersion
    ? saved
    : JSON.stringify(state.upgrade?.(JSON.parse(saved), savedVersion) ?? state.empty());
