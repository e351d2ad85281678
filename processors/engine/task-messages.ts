/** Messages between the main thread and the threads that run tasks. */
import type { PackedRecords } from '../../runtime/packed-records.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { BatchResult, TaskStatus } from './batch-result.ts';

/** A document of a collection that some processor follows. */
export interface DocumentChange {
  readonly collection: string;
  readonly tenantId: string;
  readonly id: string;
  readonly document: (object & StoredMetadata) | undefined;
}

/** Startup data of a thread. */
export interface WorkerStart {
  /** Module whose `processors` the thread loads. */
  readonly definitions: string;
  readonly progress: SharedArrayBuffer;
  readonly documents: readonly DocumentChange[];
}

/** Bus messages that a thread holds for all its tasks. Its number is never reused. */
export interface MessageChunk {
  readonly number: number;
  readonly records: PackedRecords;
}

/** A range of messages within a chunk, by index. */
export interface MessageRange {
  readonly chunk: number;
  readonly from: number;
  readonly to: number;
}

/** A call to a task. Task numbers are never reused. */
export type TaskCall =
  | {
      readonly kind: 'open';
      readonly processor: string;
      readonly topic: string;
      readonly partition: number;
      readonly buckets: number;
      readonly saved: Uint8Array | undefined;
    }
  | { readonly kind: 'batch' | 'replay'; readonly ranges: readonly MessageRange[]; readonly last: number }
  | { readonly kind: 'tick'; readonly clockMs: number }
  | { readonly kind: 'published' | 'snapshot' | 'close' }
  | { readonly kind: 'move' | 'skip'; readonly offset: number }
  | { readonly kind: 'limit'; readonly tenantId: string; readonly reason: string; readonly forMs: number };

export interface TaskRequest {
  readonly id: number;
  readonly task: number;
  readonly call: TaskCall;
  /** Chunks that the thread holds from now on. */
  readonly chunks: readonly MessageChunk[];
}

/** Request to release messages. Their memory may be reused once this request has a reply. */
export interface ReleaseRequest {
  readonly id: number;
  readonly chunksToRelease: readonly number[];
}

export interface ChangeRequest {
  readonly changes: readonly DocumentChange[];
}

export interface TaskReply {
  readonly id: number;
  /** Result of `batch`, or of a tick that did work. */
  readonly result?: BatchResult | undefined;
  /** Result of `snapshot`. */
  readonly saved?: Uint8Array;
  /** CPU time of the snapshot. */
  readonly snapshotMs?: number;
  /** Result of `open`: messages that may not be published yet. */
  readonly outbox?: readonly Message[];
  readonly isEmptied?: boolean;
  readonly status?: TaskStatus;
  /** Set if the task failed, or does not exist (anymore). */
  readonly failure?: string;
}
