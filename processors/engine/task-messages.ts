/** Messages between the main thread and the threads that run tasks. */
import type { PackedRecords } from '../../runtime/packed-records.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Answer, Holding } from './answer.ts';

/** A document of a collection that some processor follows. */
export interface DocumentChange {
  readonly collection: string;
  readonly tenantId: string;
  readonly id: string;
  readonly document: (object & Stored) | undefined;
}

/** What a thread begins with. */
export interface WorkerStart {
  /** The module whose `processors` it loads. */
  readonly definitions: string;
  readonly progress: SharedArrayBuffer;
  readonly documents: readonly DocumentChange[];
}

/** Messages of the bus that a thread holds, for all its tasks. Its number is never given to another. */
export interface Piece {
  readonly number: number;
  readonly records: PackedRecords;
}

/** Messages of a piece, from an index to another. */
export interface Run {
  readonly piece: number;
  readonly from: number;
  readonly to: number;
}

/** What is done with a task. Its number is never given to another. */
export type TaskCall =
  | {
      readonly kind: 'open';
      readonly processor: string;
      readonly topic: string;
      readonly partition: number;
      readonly buckets: number;
      readonly saved: Uint8Array | undefined;
    }
  | { readonly kind: 'batch' | 'replay'; readonly runs: readonly Run[]; readonly last: number }
  | { readonly kind: 'tick'; readonly clockMs: number }
  | { readonly kind: 'published' | 'snapshot' | 'close' }
  | { readonly kind: 'move' | 'skip'; readonly offset: number }
  | { readonly kind: 'limit'; readonly tenantId: string; readonly reason: string; readonly forMs: number };

export interface TaskRequest {
  readonly id: number;
  readonly task: number;
  readonly call: TaskCall;
  /** That the thread holds from now on. */
  readonly pieces: readonly Piece[];
}

/** Its messages are not held any longer: their memory may be used again once this is answered. */
export interface ForgetRequest {
  readonly id: number;
  readonly forget: readonly number[];
}

export interface ChangeRequest {
  readonly changes: readonly DocumentChange[];
}

export interface TaskReply {
  readonly id: number;
  /** Of `batch`, and of a tick that had something to do. */
  readonly answer?: Answer | undefined;
  /** Of `snapshot`. */
  readonly saved?: Uint8Array;
  /** CPU time that it took. */
  readonly snapshotMs?: number;
  /** Of `open`. */
  readonly outbox?: readonly Message[];
  readonly isEmptied?: boolean;
  readonly holding?: Holding;
  /** Set when the task failed, or when there is no such task (any longer). */
  readonly failure?: string;
}
