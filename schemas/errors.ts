/**
 * The two kinds of failure. Every error other than a `PermanentError` is transient: the response is 503 or UNAVAILABLE,
 * or the batch is redelivered.
 */

/**
 * A failure that repeats with the same input. The response is 400 or INVALID_ARGUMENT, or the message goes to the
 * dead-letter topic. The message is for people.
 */
export class PermanentError extends Error {
  /** Short stable code for counting and filtering, for example `malformed` or `too-deep`. */
  readonly reason: string;
  /** Position of the error in the decompressed body, in bytes (in JSON, possibly in characters). */
  readonly position: number | undefined;
  /**
   * Size of the decompressed body that contains the fault. The decompressing code sets it; `undefined` if decompression
   * failed.
   */
  decompressedBytes: number | undefined;

  constructor(reason: string, message: string, options: { position?: number | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PermanentError';
    this.reason = reason;
    this.position = options.position;
  }
}

/** A dependency is unavailable. The sender should retry after `retryAfterSeconds`. */
export class UnavailableError extends Error {
  readonly retryAfterSeconds: number;

  constructor(message: string, options: { retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UnavailableError';
    this.retryAfterSeconds = options.retryAfterSeconds ?? 5;
  }
}

/** A directory that only one process may use is in use by another process. */
export class DirectoryLockedError extends Error {
  constructor(directory: string, holder: string, cause: unknown) {
    super(
      `the data directory ${directory} is in use by another running oiq (${holder}): stop that process first, or use another data directory for this one (OIQ_DATA_DIR)`,
      { cause },
    );
    this.name = 'DirectoryLockedError';
  }
}
