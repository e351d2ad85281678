/** Schema of queries for the state of a synthetic check. */
import { z } from 'zod';

/** Status of a synthetic check, from its stored verdicts: the query of its alert rule. */
export const CheckQuery = z.strictObject({
  kind: z.literal('check'),
  checkId: z.string().min(1).max(128),
});
export type CheckQuery = z.output<typeof CheckQuery>;

declare module '../../queries/query.ts' {
  interface PartQuerySchemas {
    check: typeof CheckQuery;
  }
}
