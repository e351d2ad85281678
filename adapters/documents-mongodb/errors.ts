/** Maps MongoDB's errors to errors of the port. */
import { MongoBulkWriteError, MongoError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { UnavailableError } from '../../schemas/errors.ts';
import { ConflictError } from '../../schemas/ports/documents.ts';
import { getKeyFields } from './encoding.ts';

/**
 * No primary, stepping down, shutting down, timed out, majority not reached, or not authenticated to the cluster yet.
 */
const unavailableCodes: ReadonlySet<unknown> = new Set([
  6, 7, 50, 64, 89, 91, 133, 134, 189, 202, 262, 317, 358, 9001, 10058, 10107, 11600, 11602, 13388, 13435, 13436,
]);
const connectionErrors: ReadonlySet<string> = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoClientClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
  'PoolClearedOnNetworkError',
]);

/** Whether the whole transaction can be retried after the error. */
export const isTransient = (error: unknown): error is MongoError =>
  error instanceof MongoServerError && error.hasErrorLabel('TransientTransactionError');

const isUnavailable = (error: unknown): boolean =>
  error instanceof MongoError &&
  (connectionErrors.has(error.name) || (error instanceof MongoServerError && unavailableCodes.has(error.code)));

/** Whether a hinted index does not exist, because another version of the program does not create it. */
export const isMissingIndex = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === 2 && /\bhint\b/.test(error.message);

/** Whether the position of the change stream is no longer in the oplog. */
export const isHistoryLost = (error: unknown): boolean =>
  error instanceof MongoServerError && [136, 260, 280, 286].includes(Number(error.code));

/** Whether a snapshot is not readable yet, because the collection or one of its indexes was just created. */
export const isSnapshotUnavailable = (error: unknown): boolean =>
  error instanceof MongoServerError && [239, 246].includes(Number(error.code));

/** Whether another instance created the collection first. */
export const isExistingCollection = (error: unknown): boolean => error instanceof MongoServerError && error.code === 48;

/** The driver's description of the servers when none of them accepts writes. */
const describeUnavailability = (error: unknown): string => {
  const servers = error instanceof MongoServerSelectionError ? [...(error.reason?.servers.values() ?? [])] : [];
  const types = new Set<string>(servers.map(({ type }) => type));
  if (types.has('RSGhost'))
    return 'MongoDB answers, but its replica set is not initiated: run rs.initiate() once, in mongosh';
  if (types.has('RSSecondary')) return 'the replica set of MongoDB has no primary now';
  return 'MongoDB cannot be reached';
};

const authenticationFailedCode = 18;

/** Whether the error is a failed DNS lookup of a `mongodb+srv` name. */
const isDnsFailure = (error: unknown): error is Error =>
  error instanceof Error && 'syscall' in error && /^query(?:Srv|Txt)$/.test(String(error.syscall));

export const toPortError = (error: unknown): unknown => {
  if (isDnsFailure(error))
    return new UnavailableError(`MongoDB cannot be reached: its name cannot be looked up (${error.message})`, {
      cause: error,
    });
  if (error instanceof MongoServerError && error.code === authenticationFailedCode)
    return new Error(`MongoDB refuses the login: ${error.message} Check the user and the password in OIQ_MONGODB_URL`, {
      cause: error,
    });
  if (isUnavailable(error)) return new UnavailableError(describeUnavailability(error), { cause: error });
  if (error instanceof MongoServerError && error.code === 11000 && !(error instanceof MongoBulkWriteError)) {
    const fields = getKeyFields(error.keyPattern);
    return new ConflictError('duplicate', `another document has the same ${fields.join(', ')}`, {
      fields,
      cause: error,
    });
  }
  return error;
};
