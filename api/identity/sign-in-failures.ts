import type { Stored } from '../../schemas/ports/documents.ts';
import type { User } from '../../schemas/resources/user.ts';
import type { Change } from '../kernel/changes.ts';
import type { Ports } from '../kernel/ports.ts';

/** Of one user in an hour: enough to see an attack, too few to fill the chain with it. */
const recorded = { limit: 20, windowMs: 3_600_000 };

/**
 * Records, as `session.refuse`, that a known user was not let in. After the answer, so that this tells by its time nothing
 * of whether there is such a user.
 */
export const recordFailure = (
  user: User & Stored,
  tenantId: string,
  change: Change,
  { counters, log }: Pick<Ports, 'counters' | 'log'>,
): void => {
  const record = async (): Promise<void> => {
    const { granted } = await counters.spend(`sign-in-failures/${user.id}`, recorded.limit, recorded.windowMs, 1);
    if (granted < 1) return;
    await change(async (scope) => scope.record({ action: 'session.refuse', id: user.id, name: user.email, tenantId }));
  };
  setImmediate(() => {
    record().catch((error: unknown) => log.warn({ error }, 'a failed sign-in could not be recorded'));
  });
};
