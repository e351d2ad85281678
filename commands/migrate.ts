import { allTopics } from '../schemas/topics.ts';
import { migrate } from '../sinks/migrations/index.ts';
import { bootstrapCollections } from './bootstrap.ts';
import type { Platform } from './platform.ts';

/** Brings topics, tables and indexes to what is declared. Safe to run again, and by several at once. */
export const migrateAll = async ({ bus, columns, documents, log }: Platform): Promise<void> => {
  await Promise.all([
    bus.ensureTopics(allTopics),
    migrate(columns, log),
    documents.ensureCollections(bootstrapCollections),
  ]);
};
