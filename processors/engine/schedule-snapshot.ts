/** Binary format of a slot's snapshot: JSON, in which the states are already strings. */

import type { Message } from '../../schemas/ports/bus.ts';
import { restoreMessages, type SavedMessage, saveMessages } from './emissions.ts';
import type { Schedule } from './schedule.ts';

/** Saved state of one item. */
export interface SavedItem {
  /** Creation time of its document. Another document with the same id starts over. */
  readonly born: string;
  /** Last due time that ran. */
  readonly dueMs: number;
  /** JSON. */
  readonly state: string;
}

export interface SavedSlot {
  readonly stateVersion: number;
  readonly emitter: string;
  /** Number of saves that emitted something. */
  readonly emitted: number;
  /** Messages of the last save that may not be published yet. */
  readonly outbox: readonly Message[];
  readonly items: ReadonlyMap<string, SavedItem>;
}

const formatVersion = 1;

export const encodeSlot = ({ items, outbox, ...slot }: SavedSlot): Uint8Array => {
  const header = JSON.stringify({ format: formatVersion, ...slot, outbox: saveMessages(outbox) });
  const rows = [...items].map(([key, { born, dueMs, state }]) => `[${JSON.stringify([key, born, dueMs])},${state}]`);
  return Buffer.from(`[${header},[${rows.join(',')}]]`);
};

/** Throws for bytes that `encodeSlot` did not write. */
export const decodeSlot = (bytes: Uint8Array): SavedSlot => {
  const [{ format: savedFormat, outbox, ...slot }, rows] = JSON.parse(Buffer.from(bytes).toString('utf8')) as [
    Omit<SavedSlot, 'outbox' | 'items'> & { readonly format: number; readonly outbox: readonly SavedMessage[] },
    [[key: string, born: string, dueMs: number], state: unknown][],
  ];
  if (savedFormat !== formatVersion)
    throw new Error(`a snapshot of format ${savedFormat} cannot be read: this version reads ${formatVersion}`);
  return {
    ...slot,
    outbox: restoreMessages(outbox),
    items: new Map(rows.map(([[key, born, dueMs], state]) => [key, { born, dueMs, state: JSON.stringify(state) }])),
  };
};

/** Returns a state in the form of this version. */
export const upgradeState = ({ state }: Schedule, saved: string, savedVersion: number): string =>
  state.version === savedVersion
    ? saved
    : JSON.stringify(state.upgrade?.(JSON.parse(saved), savedVersion) ?? state.empty());
