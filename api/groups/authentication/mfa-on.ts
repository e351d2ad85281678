import { enrolmentOf } from '../../identity/second-factor.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { Ports } from '../../kernel/ports.ts';

/** Throws `CONFLICT` where multi-factor is not on. */
export const refuseUnlessOn = async (userId: string, ports: Pick<Ports, 'documents'>): Promise<void> => {
  const enrolment = await enrolmentOf(userId, ports);
  if (!enrolment?.confirmedAt) throw new ApiError('CONFLICT', 'multi-factor is not on');
};
