import { QueryError } from '../queries/errors.ts';
import { PermanentError, UnavailableError } from '../schemas/errors.ts';
import { ConflictError } from '../schemas/ports/documents.ts';

/**
 * Every error code of the management API with its status. Clients branch on the code; the OpenAPI document lists this
 * table.
 */
export const errorStatuses = {
  VALIDATION_FAILED: 400,
  RETENTION_EXCEEDED: 400,
  TOKEN_INVALID: 400,
  UNAUTHENTICATED: 401,
  MFA_REQUIRED: 401,
  FORBIDDEN: 403,
  UPGRADE_REQUIRED: 403,
  TENANT_MISMATCH: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  PRECONDITION_REQUIRED: 428,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  NOT_IMPLEMENTED: 501,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof errorStatuses;

/** An error in one field. `path` is dotted (`panels.0.title`), a parameter's name, or empty for the whole body. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** Error response of a handler: any status except 200. The message is for people. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: readonly FieldError[]; headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorStatuses[this.code];
  }
}

/** An error in the format of another product's API. */
export interface ForeignError {
  readonly status: number;
  /** A text is sent unchanged, any other value as JSON. */
  readonly body: unknown;
  /** The error whose error object has the members that the body does not have. */
  readonly cause?: ApiError;
}

/** Responses to unknown paths below a path that clients of another product use. */
export interface UnknownPathErrors {
  readonly under: `/api/${string}/`;
  readonly failure: ForeignError;
}

/** Maps an HTTP status of another product's API to an error code of this API. */
const toErrorCode = (status: number): ErrorCode => {
  if (status < 500) return 'VALIDATION_FAILED';
  return status === 503 ? 'UNAVAILABLE' : 'INTERNAL';
};

/** An error of an operation with its own error format. */
export class ForeignApiError extends ApiError {
  readonly failure: ForeignError;

  constructor(failure: ForeignError, cause: unknown) {
    super(toErrorCode(failure.status), 'the operation failed', {
      cause,
      ...(cause instanceof ApiError && { headers: cause.headers }),
    });
    this.name = 'FailedOperation';
    this.failure = failure;
  }

  override get status(): number {
    return this.failure.status;
  }
}

/** Returns `VALIDATION_FAILED` for one field. */
export const createFieldError = (path: string, message: string): ApiError =>
  new ApiError('VALIDATION_FAILED', message, { details: [{ path, message }] });

/** Returns `VALIDATION_FAILED` for several fields. The message is that of the first field, with the number of others. */
export const createFieldErrors = (details: readonly FieldError[]): ApiError => {
  const [first] = details;
  const messagePrefix = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const suffix = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  return new ApiError('VALIDATION_FAILED', `${messagePrefix}${first?.message ?? 'invalid input'}${suffix}`, {
    details,
  });
};

/** Returns `NOT_FOUND`. The error is the same for an id of another tenant. */
export const createNotFoundError = (noun: string): ApiError =>
  new ApiError('NOT_FOUND', `the ${noun} does not exist in this organization`);

/** Returns `RATE_LIMITED` with `Retry-After`. */
export const createRateLimitError = (message: string, retryAfterMs: number): ApiError =>
  new ApiError('RATE_LIMITED', message, {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
  });

/** Returns the response to a thrown error. Unexpected errors become `INTERNAL` and reveal nothing to the client. */
export const toApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error;
  if (error instanceof QueryError)
    return new ApiError(error.code, error.message, {
      ...(error.path !== undefined && { details: [{ path: error.path, message: error.message }] }),
      ...(error.retryAfterSeconds !== undefined && { headers: { 'Retry-After': String(error.retryAfterSeconds) } }),
      cause: error,
    });
  if (error instanceof UnavailableError)
    return new ApiError('UNAVAILABLE', error.message, {
      headers: { 'Retry-After': String(error.retryAfterSeconds) },
      cause: error,
    });
  if (error instanceof ConflictError) {
    if (error.kind === 'version')
      return new ApiError(
        'PRECONDITION_FAILED',
        'the resource was changed or removed by another request; read it again',
        {
          cause: error,
        },
      );
    return new ApiError('CONFLICT', `a resource with the same ${error.fields.join(' and ')} already exists`, {
      cause: error,
    });
  }
  if (error instanceof PermanentError)
    return new ApiError('VALIDATION_FAILED', error.message, {
      details: [{ path: '', message: error.message }],
      cause: error,
    });
  return new ApiError('INTERNAL', 'internal error; the log has details under the request id', { cause: error });
};
