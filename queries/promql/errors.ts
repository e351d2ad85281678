/** Errors of PromQL queries, with the error types and messages of Prometheus. */

/** Prometheus' error types. */
export type PromqlErrorType =
  | 'bad_data'
  | 'execution'
  | 'canceled'
  | 'timeout'
  | 'internal'
  | 'unavailable'
  | 'not_found'
  | 'too_many_requests';

/** A query that cannot be answered. The message is Prometheus' own if there is one. */
export class PromqlError extends Error {
  readonly type: PromqlErrorType;

  constructor(type: PromqlErrorType, message: string) {
    super(message);
    this.name = 'PromqlError';
    this.type = type;
  }
}
