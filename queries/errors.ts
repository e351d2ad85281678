/** A query that is invalid or not allowed. The API maps the code to a status; the message is for people. */
export class QueryError extends Error {
  readonly code: 'VALIDATION_FAILED' | 'RETENTION_EXCEEDED' | 'UPGRADE_REQUIRED' | 'NOT_IMPLEMENTED';
  /** The part of the question that is wrong, where there is one: `from`, `cursor`. */
  readonly path: string | undefined;

  constructor(code: QueryError['code'], message: string, path?: string) {
    super(message);
    this.name = 'QueryError';
    this.code = code;
    this.path = path;
  }
}

/** `VALIDATION_FAILED` about one part of the question. */
export const invalid = (path: string, message: string): QueryError =>
  new QueryError('VALIDATION_FAILED', message, path);
