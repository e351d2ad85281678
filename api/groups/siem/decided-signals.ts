import { documentsIn } from '../../../runtime/documents-in.ts';
import type { Filter, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { signalTriages } from '../../../schemas/resources/signal-triage.ts';
import { ApiError } from '../../errors.ts';

/** Maximum number of decided signals that one answer can distinguish. */
const maxDecided = 10_000;

/** Ids of signals with a decision. */
export const decidedSignals = async (own: TenantDocuments, filter: Filter): Promise<string[]> => {
  const ids: string[] = [];
  for await (const { id } of documentsIn(own.collection(signalTriages), { filter })) {
    ids.push(id);
    if (ids.length > maxDecided)
      throw new ApiError(
        'CONFLICT',
        `more than ${maxDecided} signals have this state: request another state or a shorter range`,
      );
  }
  return ids;
};
