/** Records of errors, and pairs of them */

/** A log record or the event of a span, before it is encoded */
export interface Sent {
  readonly body?: unknown;
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** Attributes of the span event `exception`, which replaces the log record */
  readonly event?: Readonly<Record<string, string>>;
  readonly service?: string;
}

export interface ErrorPair {
  readonly title: string;
  /** Whether both records are one error */
  readonly isSame: boolean;
  readonly records: readonly [Sent, Sent];
}
