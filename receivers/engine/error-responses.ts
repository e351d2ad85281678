/** All error responses, defined once; each protocol maps the kind to its own code. */
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';

/**
 * Reasons why a request was not accepted. The table contains the contract's "Ingest status codes" for HTTP and gRPC's
 * own codes.
 */
export const errorKinds = {
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
export type ErrorKind = keyof typeof errorKinds;

interface PartiallyAccepted {
  readonly records: number;
  readonly rejected: { readonly records: number; readonly message: string };
}

/** A plain value and not an error, because stack traces are too expensive for frequent errors. */
export interface ErrorResponse {
  readonly kind: ErrorKind;
  readonly message: string;
  /** Seconds after which the sender should retry; undefined if a retry cannot succeed. */
  readonly retryAfterSeconds?: number | undefined;
  /** Reason in the usage records, if it differs from the kind. */
  readonly reason?: string | undefined;
}

export const createErrorResponse = (kind: ErrorKind, message: string, retryAfterSeconds?: number): ErrorResponse => ({
  kind,
  message,
  retryAfterSeconds,
});

/**
 * Returns the error response for the rejected records of a request, for protocols that have no response for partial success.
 * Their senders do not repeat a request after this status.
 */
export const createPartialErrorResponse = (noun: string, { records, rejected }: PartiallyAccepted): ErrorResponse =>
  createErrorResponse(
    'malformed',
    `only ${records} ${noun} were stored, and ${rejected.records} rejected: do not send them again. The first fault: ${rejected.message}`,
  );

/** Returns the response for an error: permanent errors are malformed bodies, all others can be retried. */
export const toErrorResponse = (error: unknown): ErrorResponse => {
  if (error instanceof PermanentError) return createErrorResponse('malformed', error.message);
  if (error instanceof UnavailableError)
    return createErrorResponse('unavailable', error.message, error.retryAfterSeconds);
  return createErrorResponse('unavailable', 'the request could not be accepted now', 5);
};
