/** Documents for suites that are not about how soon an outage of MongoDB is told. */
import { openMongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { patienceMs, stretched } from '../waiting.ts';

/** Connects to MongoDB, and takes its answers however slow the machine is; an operation that hangs ends all the same. */
export const patientDocuments = (url: string): Promise<Documents> => {
  const limitMs = stretched(patienceMs);
  return openMongoDocuments({ url, limits: { operationMs: limitMs, transactionMs: limitMs } });
};
