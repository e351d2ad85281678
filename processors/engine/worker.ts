/** A thread that runs tasks. It loads no driver and no main-thread code of the engine. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, type TransferListItem, workerData } from 'node:worker_threads';
import { collectWhenIdle } from '../../runtime/idle-memory.ts';
import { transferableBuffers } from '../../runtime/memory.ts';
import { unpackRecords } from '../../runtime/packed-records.ts';
import { getThreadCpuMs } from '../../runtime/thread-time.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import type { BatchResult } from './answer.ts';
import type { Processor } from './definition.ts';
import { FollowedDocuments } from './documents.ts';
import { isEntitled } from './entitlements.ts';
import { SliceScheduler } from './fair-queue.ts';
import { Progress } from './progress.ts';
import { Task } from './task.ts';
import type {
  ChangeRequest,
  ForgetRequest,
  MessageChunk,
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
  for (const { collection, tenantId, id, document } of changes) documents.change(collection, tenantId, id, document);
};

const openTask = async (number: number, call: TaskCall & { readonly kind: 'open' }): Promise<Omit<TaskReply, 'id'>> => {
  const { processors } = await definitions;
  const processor = processors.find(({ name }) => name === call.processor);
  if (processor === undefined) throw new Error(`processor ${call.processor} does not exist`);
  const { topic, partition, buckets, saved } = call;
  const { entitlement } = processor;
  const entitled = (tenantId: string) => entitlement === undefined || isEntitled(documents, tenantId, entitlement);
  const task = new Task(processor, { topic, partition, buckets, documents, entitled, watch: progress }, saved);
  tasks.set(number, task);
  return { outbox: task.outbox, isEmptied: task.isEmptied, holding: task.holding };
};

/** Messages by piece number. All tasks share one object per message, so that a source opens it once. */
const heldMessages = new Map<number, readonly BusRecord[]>();

/** Holds a piece without message keys, which no step reads. */
const hold = ({ number, records }: MessageChunk): void => {
  heldMessages.set(
    number,
    Array.from(unpackRecords(records), (record) => ({ ...record, key: '' })),
  );
};

type Feed = TaskCall & { readonly kind: 'batch' | 'replay' };

const collectRecords = ({ runs }: Feed): readonly BusRecord[] => {
  const [only] = runs;
  const all = (piece: number): readonly BusRecord[] => {
    const records = heldMessages.get(piece);
    if (records === undefined) throw new Error(`the thread does not hold piece ${piece} of messages`);
    return records;
  };
  if (only !== undefined && runs.length === 1) return all(only.piece).slice(only.from, only.to);
  return runs.flatMap(({ piece, from, to }) => all(piece).slice(from, to));
};

const scheduler = new SliceScheduler();

/** Steps messages in time slices shared with other tasks. */
const runFeed = async (number: number, task: Task, call: Feed): Promise<Omit<TaskReply, 'id'>> => {
  task.begin(collectRecords(call), call.last);
  const step = (slice: TimeSlice): BatchResult | undefined => {
    progress.begin(number);
    try {
      return task.advance(slice);
    } finally {
      progress.end();
    }
  };
  const answer = await scheduler.run(number, step, task);
  return call.kind === 'batch' ? { answer, holding: task.holding } : { holding: task.holding };
};

const runCall = (task: Task, call: TaskCall): Omit<TaskReply, 'id'> => {
  switch (call.kind) {
    case 'tick': {
      const answer = task.tick(call.clockMs);
      return { answer, holding: task.holding };
    }
    case 'published':
      task.published();
      return {};
    case 'snapshot': {
      const began = getThreadCpuMs();
      const saved = task.snapshot();
      return { saved, snapshotMs: getThreadCpuMs() - began };
    }
    case 'move':
      task.moveTo(call.offset);
      return { holding: task.holding };
    case 'skip':
      task.skip(call.offset);
      return {};
    case 'limit':
      task.limit(call.tenantId, call.reason, call.forMs);
      return { holding: task.holding };
    default:
      return {};
  }
};

const handleRequest = async ({ task: number, call, pieces }: TaskRequest): Promise<Omit<TaskReply, 'id'>> => {
  // Also if the task is lost, because other tasks may read the pieces.
  for (const piece of pieces) hold(piece);
  try {
    if (call.kind === 'open') return await openTask(number, call);
    const task = tasks.get(number);
    if (call.kind === 'close') {
      tasks.delete(number);
      scheduler.forget(number);
    }
    if (task === undefined) throw new Error('the task does not exist');
    if (call.kind === 'batch' || call.kind === 'replay') return await runFeed(number, task, call);
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
const transferList = ({ call }: TaskRequest, { saved, answer }: Omit<TaskReply, 'id'>): TransferListItem[] => {
  if (saved !== undefined) return transferableBuffers([saved.buffer]);
  return call.kind === 'batch' ? transferableBuffers(answer?.messages.map(({ value }) => value.buffer) ?? []) : [];
};

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread only');
lowerPriority();
collectWhenIdle();
applyChanges({ changes: start.documents });
port.on('message', async (message: TaskRequest | ForgetRequest | ChangeRequest) => {
  if ('changes' in message) {
    applyChanges(message);
    return;
  }
  if ('forget' in message) {
    for (const number of message.forget) heldMessages.delete(number);
    port.postMessage({ id: message.id });
    return;
  }
  const reply = await handleRequest(message);
  port.postMessage({ id: message.id, ...reply }, transferList(message, reply));
});
