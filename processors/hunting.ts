/** Shared parts of schedules that hunt through stored records. */

/** Maximum duration of one hunt; matches found by then are emitted. */
export const maxHuntMs = 60_000;
/** Time to wait after the end of a range until all records received before that end are stored. */
export const storageDelayMs = 15_000;

/** Shared options of hunt schedules. */
export const huntScheduleOptions = {
  entitlement: ['siem', 'security'],
  missed: 'skip',
  budgetMs: 2 * maxHuntMs,
  concurrency: { total: 2, perTenant: 1 },
} as const;
