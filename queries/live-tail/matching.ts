/** Decodes a message once for all listeners of its tenant. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { threadMs } from '../../runtime/thread-time.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { itemsOf, type Partition, type Source } from '../../schemas/records/source.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import type { Span } from '../../schemas/records/span.ts';
import { logAnswer, spanAnswer } from './answers.ts';
import type { RecordPredicate, TailSignal } from './filter.ts';
import type { ListenerFilter } from './listener.ts';
import type { RecordPosition } from './positions.ts';

/** Receiver of matching records. */
export interface Target {
  readonly wish: ListenerFilter;
  /** Returns its position; no record before it is offered again. */
  position(partition: number): RecordPosition | undefined;
  offer(text: string, partition: number, place: RecordPosition): void;
}

/** Length of a time slice, after which other work runs. */
const timeSliceMs = 5;

/** Targets with equal filters and positions for a message. */
interface Group<View extends RecordView> {
  readonly matches: RecordPredicate<View>;
  /** First record of the message to offer. */
  readonly from: number;
  readonly targets: Target[];
}

const firstOf = (target: Target, partition: number, offset: number): number => {
  const place = target.position(partition);
  if (place === undefined || place.offset < offset) return 0;
  return place.offset === offset ? place.ordinal : Number.POSITIVE_INFINITY;
};

/** The header names the only consumer group of a replay; all other groups have seen the records before. */
const isReplay = ({ headers }: BusRecord): boolean => headers['only-group'] !== undefined;

/** Returns the targets of a message, by its headers alone. */
export const targetsOf = <Subscriber extends Target>(
  message: BusRecord,
  targets: Iterable<Subscriber>,
): Subscriber[] => {
  const found: Subscriber[] = [];
  if (isReplay(message)) return found;
  const { tenant, project } = message.headers;
  for (const target of targets) {
    const { tenantId, projectId } = target.wish;
    if (tenantId === tenant && (projectId === undefined || projectId === project)) found.push(target);
  }
  return found;
};

/** Returns one group for each filter and position in the message. */
const groupsOf = (targets: readonly Target[], partition: number, offset: number) => {
  const logs = new Map<string, Group<LogRecord>>();
  const ofSpans = new Map<string, Group<Span>>();
  for (const target of targets) {
    const { filter } = target.wish;
    const from = firstOf(target, partition, offset);
    const key = `${from} ${filter.key}`;
    const known = logs.get(key) ?? ofSpans.get(key);
    if (known !== undefined) known.targets.push(target);
    else if (filter.signal === 'logs') logs.set(key, { matches: filter.matches, from, targets: [target] });
    else ofSpans.set(key, { matches: filter.matches, from, targets: [target] });
  }
  return { logs: [...logs.values()], ofSpans: [...ofSpans.values()] };
};

async function offerMatches<View extends RecordView>(
  records: Iterable<View>,
  { partition }: Partition,
  offset: number,
  groups: readonly Group<View>[],
  answerOf: (record: View) => object,
  between: Between,
): Promise<void> {
  let started = performance.now();
  let startedMs = threadMs();
  for (const record of records) {
    const { ordinal } = record;
    let text: string | undefined;
    for (const { targets, matches, from } of groups) {
      if (ordinal < from || !matches(record)) continue;
      text ??= JSON.stringify(answerOf(record));
      for (const target of targets) target.offer(text, partition, { offset, ordinal });
    }
    if (performance.now() - started < timeSliceMs && !between.isDue()) continue;
    between.spent(threadMs() - startedMs);
    await between.pause();
    started = performance.now();
    startedMs = threadMs();
  }
  between.spent(threadMs() - startedMs);
}

/** Hooks between records. */
export interface Between {
  /** Called with the CPU time of records. */
  spent(ms: number): void;
  /** Returns whether to pause before the end of the time slice. */
  isDue(): boolean;
  pause(): Promise<void>;
}

/** Returns hooks that only yield to other work. */
export const yieldBetweenRecords = (spent: (ms: number) => void): Between => ({
  spent,
  isDue: () => false,
  pause: () => yieldToEventLoop(),
});

const sources: Readonly<Record<TailSignal, Source<LogRecord> | Source<Span>>> = { logs: logRecords, spans };

/** Returns the topic with records of a telemetry signal. */
export const topicOf = (signal: TailSignal): string => sources[signal].topics[0]?.name ?? '';

/**
 * Offers the matching records of a message to each target. All targets have one telemetry signal. A message that sinks
 * would send to the dead letters has no records.
 */
export const match = async (
  message: BusRecord,
  where: Partition,
  targets: readonly Target[],
  between: Between,
): Promise<void> => {
  const { offset } = message;
  const startedMs = threadMs();
  const { logs, ofSpans } = groupsOf(targets, where.partition, offset);
  try {
    if (logs.length > 0) {
      const records = itemsOf(logRecords, message, where);
      between.spent(threadMs() - startedMs);
      return await offerMatches(records, where, offset, logs, logAnswer, between);
    }
    const records = itemsOf(spans, message, where);
    between.spent(threadMs() - startedMs);
    await offerMatches(records, where, offset, ofSpans, spanAnswer, between);
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
  }
};
