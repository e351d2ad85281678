/** Decodes a message once for all listeners of its tenant. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { getThreadCpuMs } from '../../runtime/thread-time.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { iterateItems, type Partition, type Source } from '../../schemas/records/source.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import type { Span } from '../../schemas/records/span.ts';
import { toLogRecord, toSpanRecord } from './api-records.ts';
import type { RecordPredicate, TailSignal } from './filter.ts';
import type { ListenerFilter } from './listener.ts';
import type { RecordPosition } from './positions.ts';

/** Receiver of matching records. */
export interface Target {
  readonly listenerFilter: ListenerFilter;
  /** Returns its position; no record before it is offered again. */
  position(partition: number): RecordPosition | undefined;
  enqueue(json: string, partition: number, position: RecordPosition): void;
}

/** Length of a time slice, after which other work runs. */
const timeSliceMs = 5;

/** Targets with equal filters and positions for a message. */
interface Group<View extends RecordView> {
  readonly matches: RecordPredicate<View>;
  /** First record of the message to offer. */
  readonly firstOrdinal: number;
  readonly targets: Target[];
}

const findFirstOrdinal = (target: Target, partition: number, offset: number): number => {
  const position = target.position(partition);
  if (position === undefined || position.offset < offset) return 0;
  return position.offset === offset ? position.ordinal : Number.POSITIVE_INFINITY;
};

/**
 * Returns whether a message is replayed for one consumer group, which a header names. All other groups have already
 * seen it.
 */
const isReplay = ({ headers }: BusRecord): boolean => headers['only-group'] !== undefined;

/** Returns the targets whose tenant and project match the headers of a message, without decoding its body. */
export const selectTargets = <Subscriber extends Target>(
  message: BusRecord,
  targets: Iterable<Subscriber>,
): Subscriber[] => {
  const selectedTargets: Subscriber[] = [];
  if (isReplay(message)) return selectedTargets;
  const { tenant, project } = message.headers;
  for (const target of targets) {
    const { tenantId, projectId } = target.listenerFilter;
    if (tenantId === tenant && (projectId === undefined || projectId === project)) selectedTargets.push(target);
  }
  return selectedTargets;
};

/** Groups targets with equal filters and equal positions in the message. */
const groupTargets = (targets: readonly Target[], partition: number, offset: number) => {
  const logGroups = new Map<string, Group<LogRecord>>();
  const spanGroups = new Map<string, Group<Span>>();
  for (const target of targets) {
    const { filter } = target.listenerFilter;
    const firstOrdinal = findFirstOrdinal(target, partition, offset);
    const key = `${firstOrdinal} ${filter.key}`;
    const group = logGroups.get(key) ?? spanGroups.get(key);
    if (group !== undefined) group.targets.push(target);
    else if (filter.signal === 'logs') logGroups.set(key, { matches: filter.matches, firstOrdinal, targets: [target] });
    else spanGroups.set(key, { matches: filter.matches, firstOrdinal, targets: [target] });
  }
  return { logs: [...logGroups.values()], ofSpans: [...spanGroups.values()] };
};

async function offerMatches<View extends RecordView>(
  records: Iterable<View>,
  { partition }: Partition,
  offset: number,
  groups: readonly Group<View>[],
  toApiRecord: (record: View) => object,
  hooks: RecordHooks,
): Promise<void> {
  let sliceStartMs = performance.now();
  let cpuStartMs = getThreadCpuMs();
  for (const record of records) {
    const { ordinal } = record;
    let json: string | undefined;
    for (const { targets, matches, firstOrdinal } of groups) {
      if (ordinal < firstOrdinal || !matches(record)) continue;
      json ??= JSON.stringify(toApiRecord(record));
      for (const target of targets) target.enqueue(json, partition, { offset, ordinal });
    }
    if (performance.now() - sliceStartMs < timeSliceMs && !hooks.isPauseDue()) continue;
    hooks.addCpuTime(getThreadCpuMs() - cpuStartMs);
    await hooks.pause();
    sliceStartMs = performance.now();
    cpuStartMs = getThreadCpuMs();
  }
  hooks.addCpuTime(getThreadCpuMs() - cpuStartMs);
}

/** Hooks between records. */
export interface RecordHooks {
  /** Called with the CPU time of records. */
  addCpuTime(ms: number): void;
  /** Returns whether to pause before the end of the time slice. */
  isPauseDue(): boolean;
  pause(): Promise<void>;
}

/** Returns hooks that only yield to other work. */
export const createYieldHooks = (addCpuTime: (ms: number) => void): RecordHooks => ({
  addCpuTime,
  isPauseDue: () => false,
  pause: () => yieldToEventLoop(),
});

const decoders: Readonly<Record<TailSignal, Source<LogRecord> | Source<Span>>> = { logs: logRecords, spans };

/** Returns the topic with records of a telemetry signal. */
export const getTailTopicName = (signal: TailSignal): string => decoders[signal].topics[0]?.name ?? '';

/**
 * Offers the matching records of a message to each target. All targets have one telemetry signal. A message that cannot
 * be decoded, which sinks send to the dead letters, is ignored.
 */
export const offerMatchingRecords = async (
  message: BusRecord,
  topicPartition: Partition,
  targets: readonly Target[],
  hooks: RecordHooks,
): Promise<void> => {
  const { offset } = message;
  const cpuStartMs = getThreadCpuMs();
  const { logs, ofSpans } = groupTargets(targets, topicPartition.partition, offset);
  try {
    if (logs.length > 0) {
      const records = iterateItems(logRecords, message, topicPartition);
      hooks.addCpuTime(getThreadCpuMs() - cpuStartMs);
      return await offerMatches(records, topicPartition, offset, logs, toLogRecord, hooks);
    }
    const records = iterateItems(spans, message, topicPartition);
    hooks.addCpuTime(getThreadCpuMs() - cpuStartMs);
    await offerMatches(records, topicPartition, offset, ofSpans, toSpanRecord, hooks);
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
  }
};
