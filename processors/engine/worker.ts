/** A thread that runs tasks. It loads no driver and no main-thread code of the engine. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, type TransferListItem, workerData } from 'node:worker_threads';
import { collectWhenIdle } from '../../runtime/idle-memory.ts';
import { transferableBuffers } from '../../runtime/memory.ts';
import { unpackRecords } from '../../runtime/packed-records.ts';
import { getThreadCpuMs } from '../../runtime/thread-time.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import type { BatchResult } from './batch-result.ts';
import type { Processor } from './definition.ts';
import { FollowedDocuments } from './documents.ts';
import { isEntitled } from './entitlements.ts';
import { SliceScheduler } from './fair-queue.ts';
import { Progress } from './progress.ts';
import { Task } from './task.ts';
import type {
  ChangeRequest,
  MessageChunk,
  ReleaseRequest,
  TaskCall,
  TaskReply,
  TaskRequest,
  WorkerStart,
} from './task-messages.ts';
import type { TimeSlice } from './time-slice.ts';

/**
 * Lowers the priority of this thread: receiving and replying take precedence on a shared core. Linux has priorities per
 * thread; elsewhere this does nothing.
 */
const lowerPriority = (): void => {
  try {
    const [, thread] = readlinkSync('/proc/thread-self').split('/task/');
    if (thread === undefined) return;
    progress.thread = Number(thread);
    setPriority(Number(thread), 10);
  } catch {
    // Without permission, steps run at normal priority.
  }
};

const start = workerData as WorkerStart;
const progress = new Progress(start.progress);
const documents = new FollowedDocuments();
const tasks = new Map<number, Task>();
const definitions = import(start.definitions) as Promise<{ readonly processors: readonly Processor[] }>;

const applyChanges = ({ changes }: ChangeRequest): void => {
  for (const { collection, tenantId, id, document } of changes)
    documents.applyChange(collection, tenantId, id, document);
};

const openTask = async (number: number, call: TaskCall & { readonly kind: 'open' }): Promise<Omit<TaskReply, 'id'>> => {
  const { processors } = await definitions;
  const processor = processors.find(({ name }) => name === call.processor);
  if (processor === undefined) throw new Error(`processor ${call.processor} does not exist`);
  const { topic, partition, buckets, saved } = call;
  const { entitlement } = processor;
  const isTenantEntitled = (tenantId: string) =>
    entitlement === undefined || isEntitled(documents, tenantId, entitlement);
  const task = new Task(
    processor,
    { topic, partition, buckets, documents, isEntitled: isTenantEntitled, watch: progress },
    saved,
  );
  tasks.set(number, task);
  return { outbox: task.outbox, isEmptied: task.isEmptied, status: task.status };
};

/** Messages by chunk number. All tasks share one object per message, so that a source opens it once. */
const heldMessages = new Map<number, readonly BusRecord[]>();

/** Stores a chunk without message keys, which no step reads. */
const storeChunk = ({ number, records }: MessageChunk): void => {
  heldMessages.set(
    number,
    Array.from(unpackRecords(records), (record) => ({ ...record, key: '' })),
  );
};

type StepCall = TaskCall & { readonly kind: 'batch' | 'replay' };

const collectRecords = ({ ranges }: StepCall): readonly BusRecord[] => {
  const [singleRange] = ranges;
  const getChunk = (chunk: number): readonly BusRecord[] => {
    const records = heldMessages.get(chunk);
    if (records === undefined) throw new Error(`the thread does not hold piece ${chunk} of messages`);
    return records;
  };
  if (singleRange !== undefined && ranges.length === 1)
    return getChunk(singleRange.chunk).slice(singleRange.from, singleRange.to);
  return ranges.flatMap(({ chunk, from, to }) => getChunk(chunk).slice(from, to));
};

const scheduler = new SliceScheduler();

/** Steps messages in time slices shared with other tasks. */
const runStepCall = async (number: number, task: Task, call: StepCall): Promise<Omit<TaskReply, 'id'>> => {
  task.begin(collectRecords(call), call.last);
  const step = (slice: TimeSlice): BatchResult | undefined => {
    progress.begin(number);
    try {
      return task.advance(slice);
    } finally {
      progress.end();
    }
  };
  const result = await scheduler.run(number, step, task);
  return call.kind === 'batch' ? { result, status: task.status } : { status: task.status };
};

const runCall = (task: Task, call: TaskCall): Omit<TaskReply, 'id'> => {
  switch (call.kind) {
    case 'tick': {
      const result = task.tick(call.clockMs);
      return { result, status: task.status };
    }
    case 'published':
      task.clearOutbox();
      return {};
    case 'snapshot': {
      const startCpuMs = getThreadCpuMs();
      const saved = task.snapshot();
      return { saved, snapshotMs: getThreadCpuMs() - startCpuMs };
    }
    case 'move':
      task.moveTo(call.offset);
      return { status: task.status };
    case 'skip':
      task.skip(call.offset);
      return {};
    case 'limit':
      task.limitTenant(call.tenantId, call.reason, call.forMs);
      return { status: task.status };
    default:
      return {};
  }
};

const handleRequest = async ({ task: number, call, chunks }: TaskRequest): Promise<Omit<TaskReply, 'id'>> => {
  // The chunks are stored even if the task is lost, because other tasks may read them.
  for (const chunk of chunks) storeChunk(chunk);
  try {
    if (call.kind === 'open') return await openTask(number, call);
    const task = tasks.get(number);
    if (call.kind === 'close') {
      tasks.delete(number);
      scheduler.removeTask(number);
    }
    if (task === undefined) throw new Error('the task does not exist');
    if (call.kind === 'batch' || call.kind === 'replay') return await runStepCall(number, task, call);
    progress.begin(number);
    return runCall(task, call);
  } catch (error) {
    // The task may be in any state, so it is reloaded.
    tasks.delete(number);
    return { failure: error instanceof Error ? error.message : String(error) };
  } finally {
    progress.end();
  }
};

/** Returns the memory that was created only for the reply. The task retains the emissions of a tick. */
const transferList = ({ call }: TaskRequest, { saved, result }: Omit<TaskReply, 'id'>): TransferListItem[] => {
  if (saved !== undefined) return transferableBuffers([saved.buffer]);
  return call.kind === 'batch' ? transferableBuffers(result?.messages.map(({ value }) => value.buffer) ?? []) : [];
};

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread only');
lowerPriority();
collectWhenIdle();
applyChanges({ changes: start.documents });
port.on('message', async (message: TaskRequest | ReleaseRequest | ChangeRequest) => {
  if ('changes' in message) {
    applyChanges(message);
    return;
  }
  if ('chunksToRelease' in message) {
    for (const number of message.chunksToRelease) heldMessages.delete(number);
    port.postMessage({ id: message.id });
    return;
  }
  const reply = await handleRequest(message);
  port.postMessage({ id: message.id, ...reply }, transferList(message, reply));
});
