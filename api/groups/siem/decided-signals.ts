import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { Filter, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { signalTriages } from '../../../schemas/resources/signal-triage.ts';
import { ApiError } from '../../errors.ts';

/** Maximum number of decided signals that one request can filter by */
const maxDecidedSignals = 10_000;

/** Returns the ids of the signals whose triage decision matches a filter. Throws if there are too many. */
export const readDecidedSignalIds = async (documents: TenantDocuments, filter: Filter): Promise<string[]> => {
  const ids: string[] = [];
  for await (const { id } of iterateDocuments(documents.collection(signalTriages), { filter })) {
    ids.push(id);
    if (ids.length > maxDecidedSignals)
      throw new ApiError(
        'CONFLICT',
        `more than ${maxDecidedSignals} signals have this state: request another state or a shorter range`,
      );
  }
  return ids;
};
