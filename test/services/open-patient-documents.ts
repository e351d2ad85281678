/** Documents for suites that do not test how fast an outage of MongoDB is detected. */
import { openMongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { patienceMs, stretched } from '../waiting.ts';

/** Connects to MongoDB with long timeouts, for slow machines. An operation that hangs still fails. */
export const openPatientDocuments = (url: string): Promise<Documents> => {
  const limitMs = stretched(patienceMs);
  return openMongoDocuments({ url, limits: { operationMs: limitMs, transactionMs: limitMs } });
};
