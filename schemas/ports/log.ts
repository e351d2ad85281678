/** Structured logs: a constant text and fields. Only for lifecycle events and failures, never a line per record. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** A running log. */
export interface LogProvider extends Log {
  /** Writes and exports the remaining lines. */
  close(): Promise<void>;
}

/** Discards everything. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };
