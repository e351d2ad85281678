/** Limits of reads, from the settings. */
import type { Settings } from '../../schemas/settings.ts';
import type { ReadLimits } from './limited-columns.ts';

/** Number of connections of the in-process engine for queries. */
const embeddedSlots = 4;
/** The client of a server has 16 connections; inserts and the platform's own reads need some of them. */
const serverSlots = 12;

export const buildReadLimits = (settings: Settings): ReadLimits => {
  const slots = settings.QUERY_SLOTS ?? (settings.CLICKHOUSE_URL === undefined ? embeddedSlots : serverSlots);
  return {
    slots,
    maxSlotsPerTenant: Math.min(
      slots,
      settings.QUERY_SLOTS_PER_ORGANIZATION ?? Math.max(1, Math.floor((slots * 3) / 4)),
    ),
    maxWaitingPerTenant: settings.QUERY_QUEUE_PER_ORGANIZATION,
    waitSeconds: settings.QUERY_WAIT_SECONDS,
    maxExecutionSeconds: settings.QUERY_SECONDS,
    maxMemoryBytes: settings.QUERY_MEMORY_BYTES,
    maxRowsRead: settings.QUERY_ROWS_READ,
  };
};
