import { ensureCollections } from '../api/index.ts';
import { allTopics } from '../schemas/topics.ts';
import type { Platform } from './platform.ts';

/** Brings topics, tables and indexes to what is declared. Safe to run again, and by several at once. */
export const migrateAll = async ({ bus, columns, documents, log }: Platform): Promise<void> => {
  const { migrateTables } = await import('../sinks/index.ts');
  const { scheduleTopics } = await import('../processors/index.ts');
  const topics = [...allTopics, ...scheduleTopics];
  await Promise.all([bus.ensureTopics(topics), migrateTables(columns, log), ensureCollections(documents)]);
};
