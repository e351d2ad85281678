/**
 * Error of a query that is invalid or not allowed. The API maps the code to an HTTP status; the message is for people.
 */
export class QueryError extends Error {
  readonly code: 'VALIDATION_FAILED' | 'RETENTION_EXCEEDED' | 'UPGRADE_REQUIRED' | 'FORBIDDEN' | 'RATE_LIMITED';
  /** Invalid part of the query, if any: `from`, `cursor`. */
  readonly path: string | undefined;
  /** Delay before a retry, if a retry helps. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: QueryError['code'],
    message: string,
    path?: string,
    { retryAfterSeconds }: { readonly retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.name = 'QueryError';
    this.code = code;
    this.path = path;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Awaits the result of a query. If the query fails because of one of its parts, the error uses the caller's name for
 * that part.
 */
export const renamePathOnError = async <Result>(
  names: Readonly<Record<string, string>>,
  result: Promise<Result>,
): Promise<Result> =>
  result.catch((error: unknown) => {
    const name = error instanceof QueryError && error.path !== undefined ? names[error.path] : undefined;
    throw name === undefined || !(error instanceof QueryError)
      ? error
      : new QueryError(error.code, error.message, name);
  });

/** Returns a `VALIDATION_FAILED` error about one part of the query. */
export const createValidationError = (path: string, message: string): QueryError =>
  new QueryError('VALIDATION_FAILED', message, path);
