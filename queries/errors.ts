/** A query that is invalid or not allowed. The API maps the code to a status; the message is for people. */
export class QueryError extends Error {
  readonly code: 'VALIDATION_FAILED' | 'RETENTION_EXCEEDED' | 'UPGRADE_REQUIRED' | 'RATE_LIMITED';
  /** The part of the question that is wrong, where there is one: `from`, `cursor`. */
  readonly path: string | undefined;
  /** When to ask again, where that helps. */
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

/** What a question answers; an error about a part of it names what the part was given as. */
export const namingParts = async <Answer>(
  names: Readonly<Record<string, string>>,
  answer: Promise<Answer>,
): Promise<Answer> =>
  answer.catch((error: unknown) => {
    const name = error instanceof QueryError && error.path !== undefined ? names[error.path] : undefined;
    throw name === undefined || !(error instanceof QueryError)
      ? error
      : new QueryError(error.code, error.message, name);
  });

/** `VALIDATION_FAILED` about one part of the question. */
export const invalid = (path: string, message: string): QueryError =>
  new QueryError('VALIDATION_FAILED', message, path);
