/** All error responses, defined once; each protocol maps the kind to its own code. */
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';

/**
 * Reasons why a request was not accepted. The table contains the contract's "Ingest status codes" for HTTP and gRPC's
 * own codes.
 */
export const refusalKinds = {
  malformed: { http: 400, grpc: 3 },
  unauthenticated: { http: 401, grpc: 16 },
  forbidden: { http: 403, grpc: 7 },
  'not-found': { http: 404, grpc: 12 },
  'bad-method': { http: 405, grpc: 12 },
  'too-large': { http: 413, grpc: 8 },
  'unsupported-encoding': { http: 415, grpc: 12 },
  'unsupported-type': { http: 415, grpc: 3 },
  'rate-limited': { http: 429, grpc: 8 },
  unavailable: { http: 503, grpc: 14 },
} as const;
export type RefusalKind = keyof typeof refusalKinds;

interface PartiallyAccepted {
  readonly records: number;
  readonly rejected: { readonly records: number; readonly message: string };
}

/** A plain value instead of an error, because many refusals must not cost stack traces. */
export interface Refusal {
  readonly kind: RefusalKind;
  readonly message: string;
  /** Seconds after which the sender should retry; undefined if a retry cannot succeed. */
  readonly retryAfterSeconds?: number | undefined;
  /** Reason in the usage records, if it differs from the kind. */
  readonly reason?: string | undefined;
}

export const createRefusal = (kind: RefusalKind, message: string, retryAfterSeconds?: number): Refusal => ({
  kind,
  message,
  retryAfterSeconds,
});

/**
 * Returns the refusal of the rejected records of a request, for protocols that have no response for partial success.
 * Their senders do not repeat a request after this status.
 */
export const createPartialRefusal = (noun: string, { records, rejected }: PartiallyAccepted): Refusal =>
  createRefusal(
    'malformed',
    `only ${records} ${noun} were stored, and ${rejected.records} rejected: do not send them again. The first fault: ${rejected.message}`,
  );

/** Returns the refusal for an error: permanent errors are malformed bodies, all others can be retried. */
export const toRefusal = (error: unknown): Refusal => {
  if (error instanceof PermanentError) return createRefusal('malformed', error.message);
  if (error instanceof UnavailableError) return createRefusal('unavailable', error.message, error.retryAfterSeconds);
  return createRefusal('unavailable', 'the request could not be accepted now', 5);
};
