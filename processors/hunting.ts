/** What schedules share that look through stored records for what is new. */

/** How long one hunt may look; what it has found by then is emitted. */
export const huntMs = 60_000;
/** By then what was received before the end of the range has landed. */
export const landedAfterMs = 15_000;

/** Their part of a schedule. */
export const hunting = {
  entitlement: 'siem',
  missed: 'skip',
  budgetMs: 2 * huntMs,
  atOnce: { total: 2, perTenant: 1 },
} as const;
