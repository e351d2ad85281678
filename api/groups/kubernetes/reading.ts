import type { Reading } from '../../../queries/reading.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Ports } from '../../kernel/ports.ts';

/** What the queries of this group run with. */
export const readingOf = (caller: Caller, { columns, clock }: Pick<Ports, 'columns' | 'clock'>): Reading => ({
  columns: columns.of(caller.tenantId),
  plan: caller.plan,
  nowMs: clock.now(),
});
