/**
 * The two kinds of failure. Everything that is not a `PermanentError` is transient: it is answered 503 or
 * UNAVAILABLE, or the batch is delivered again.
 */

/** The same input always fails: answered 400 or INVALID_ARGUMENT, or sent to the dead letter. The message is for people. */
export class PermanentError extends Error {
  /** Short stable word for counting and filtering, for example `malformed` or `too-deep`. */
  readonly reason: string;
  /** Byte (or, in JSON, character) position in the decompressed body at which the fault was found. */
  readonly position: number | undefined;
  /** Bytes of the body in which the fault was found, once decompressed. Set by what decompressed it; undefined where that failed. */
  decompressedBytes: number | undefined;

  constructor(reason: string, message: string, options: { position?: number | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PermanentError';
    this.reason = reason;
    this.position = options.position;
  }
}

/** A dependency cannot answer now. The sender should try again after `retryAfterSeconds`. */
export class UnavailableError extends Error {
  readonly retryAfterSeconds: number;

  constructor(message: string, options: { retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UnavailableError';
    this.retryAfterSeconds = options.retryAfterSeconds ?? 5;
  }
}

/** A directory that belongs to one process is in use by another. */
export class DirectoryLockedError extends Error {
  constructor(directory: string, holder: string, cause: unknown) {
    super(
      `the data directory ${directory} is in use by another running oiq (${holder}): stop that one first, or give this one a directory of its own (OIQ_DATA_DIR)`,
      { cause },
    );
    this.name = 'DirectoryLockedError';
  }
}
