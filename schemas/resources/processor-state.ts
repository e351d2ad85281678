/** Where snapshots of processors' state lie (`runtime/states.ts`): under `platformTenant`, one process writes each. */
import { defineCollection, platformTenant } from '../ports/documents.ts';

/** The current snapshot of one key, which is the document's id. */
export interface ProcessorState {
  readonly number: number;
  /** Bytes, once decompressed. */
  readonly size: number;
  /** The compressed bytes as base64, where they are few. */
  readonly bytes?: string;
  /** Else the save whose chunks hold them. */
  readonly save?: string;
  readonly chunks?: number;
}

/** A piece of the compressed bytes as base64. Its id begins with the key, the number that its save expected, and the save. */
export interface ProcessorStateChunk {
  readonly bytes: string;
}

export const processorStates = defineCollection<ProcessorState>({ name: 'processor-states' });
export const processorStateChunks = defineCollection<ProcessorStateChunk>({ name: 'processor-state-chunks' });
export const processorStatesTenant = platformTenant;
