/**
 * Storage of processor state snapshots (`runtime/states.ts`), under `platformTenant`. One process writes each snapshot.
 */
import { defineCollection, platformTenant } from '../ports/documents.ts';

/** The current snapshot of one key, which is the document ID. */
export interface ProcessorState {
  readonly number: number;
  /** Decompressed size in bytes. */
  readonly size: number;
  /** Compressed bytes as base64, for a small snapshot. */
  readonly bytes?: string;
  /** ID of the write that stored the chunks, for a large snapshot. */
  readonly save?: string;
  readonly chunks?: number;
}

/**
 * A chunk of the compressed bytes as base64. Its ID begins with the key, the number that the save expected, and the
 * save.
 */
export interface ProcessorStateChunk {
  readonly bytes: string;
}

export const processorStates = defineCollection<ProcessorState>({ name: 'processor-states' });
export const processorStateChunks = defineCollection<ProcessorStateChunk>({ name: 'processor-state-chunks' });
export const processorStatesTenant = platformTenant;
