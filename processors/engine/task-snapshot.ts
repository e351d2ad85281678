/**
 * Binary format of a task's snapshot: its length, JSON of everything except states and emitted values, the states, and
 * the values.
 */
import type { Message } from '../../schemas/ports/bus.ts';
import type { SavedState } from './definition.ts';
import type { SavedMessage } from './emissions.ts';
import type { TenantLimit } from './tenant.ts';
import type { Timer } from './timers.ts';

export interface SavedTenant<State = Uint8Array> {
  readonly id: string;
  readonly latestMs: number;
  readonly watermarkMs: number;
  readonly seenMs: number;
  readonly limit: TenantLimit | undefined;
  readonly timers: readonly Timer[];
  readonly state: State;
}

export interface SavedTask<State = Uint8Array> {
  readonly stateVersion: number;
  readonly emitter: string;
  readonly nextOffset: number;
  readonly clockMs: number;
  readonly tick: number;
  /** Skipped offsets. */
  readonly skipped: readonly number[];
  /** Messages of the last tick that may not be published yet. */
  readonly outbox: readonly Message[];
  /** Last position received from each emitter whose topic is read. */
  readonly positions: readonly (readonly [emitter: string, offset: number, part: number])[];
  readonly tenants: readonly SavedTenant<State>[];
}

const formatVersion = 2;
/** Format in which emitted values were strings within the JSON. */
const formerFormat = 1;

/** JSON has no infinity; before the first record there is no watermark. */
const toNullable = (time: number): number | null => (Number.isFinite(time) ? time : null);
const fromNullable = (time: number | null): number => time ?? Number.NEGATIVE_INFINITY;

type TenantTuple = [
  id: string,
  latestMs: number | null,
  watermarkMs: number | null,
  seenMs: number | null,
  limit: TenantLimit | null,
  timers: [kind: 0 | 1, dueMs: number, key: string][],
  stateBytes: number,
];

type MessageTuple = readonly [topic: string, key: string, valueBytes: number, headers: Message['headers']];

interface SnapshotHeader extends Omit<SavedTask, 'outbox' | 'tenants' | 'clockMs'> {
  readonly format: number;
  readonly clockMs: number | null;
  readonly outbox: readonly (MessageTuple | SavedMessage)[];
  readonly tenants: readonly TenantTuple[];
}

export const toChunks = (state: SavedState): readonly Uint8Array[] => (state instanceof Uint8Array ? [state] : state);

export const countSavedBytes = (state: SavedState): number =>
  toChunks(state).reduce((sum, { length }) => sum + length, 0);

export const encodeTask = ({ outbox, tenants, clockMs, ...task }: SavedTask<SavedState>): Uint8Array => {
  const header: SnapshotHeader = {
    format: formatVersion,
    ...task,
    clockMs: toNullable(clockMs),
    outbox: outbox.map(({ topic, key, value, headers }): MessageTuple => [topic, key, value.length, headers]),
    tenants: tenants.map(({ id, latestMs, watermarkMs, seenMs, limit, timers, state }) => [
      id,
      toNullable(latestMs),
      toNullable(watermarkMs),
      toNullable(seenMs),
      limit ?? null,
      timers.map(({ kind, dueMs, key }) => [kind === 'clock' ? 0 : 1, dueMs, key]),
      countSavedBytes(state),
    ]),
  };
  const json = Buffer.from(JSON.stringify(header));
  const parts = [...tenants.flatMap(({ state }) => toChunks(state)), ...outbox.map(({ value }) => value)];
  // Its own memory, so that it can be transferred to another thread.
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 4 + json.length));
  bytes.writeUInt32LE(json.length);
  bytes.set(json, 4);
  let offset = 4 + json.length;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
};

/** Decodes a snapshot. Throws for bytes that `encodeTask` did not write. */
export const decodeTask = (bytes: Uint8Array): SavedTask => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = 4 + buffer.readUInt32LE(0);
  const { format: savedFormat, ...header } = JSON.parse(buffer.toString('utf8', 4, offset)) as SnapshotHeader;
  if (savedFormat !== formatVersion && savedFormat !== formerFormat)
    throw new Error(`a snapshot of format ${savedFormat} cannot be read: this version reads ${formatVersion}`);
  const tenants = header.tenants.map(([id, latestMs, watermarkMs, seenMs, limit, timers, stateBytes]): SavedTenant => {
    const state = buffer.subarray(offset, offset + stateBytes);
    offset += stateBytes;
    return {
      id,
      latestMs: fromNullable(latestMs),
      watermarkMs: fromNullable(watermarkMs),
      seenMs: fromNullable(seenMs),
      limit: limit ?? undefined,
      timers: timers.map(([kind, dueMs, key]) => ({ kind: kind === 0 ? 'clock' : 'watermark', dueMs, key })),
      state,
    };
  });
  const outbox = header.outbox.map(([topic, key, value, headers]): Message => {
    if (typeof value === 'string') return { topic, key, value: new TextEncoder().encode(value), headers };
    offset += value;
    // Its own memory, which may be transferred to another thread.
    return { topic, key, value: new Uint8Array(buffer.subarray(offset - value, offset)), headers };
  });
  if (offset !== buffer.length) throw new Error(`a snapshot of ${buffer.length} bytes should have ${offset}`);
  return { ...header, clockMs: fromNullable(header.clockMs), outbox, tenants };
};
