/** Structured logs: a constant text and fields; lifecycle and failures only, never a line a record. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** A running log. */
export interface LogProvider extends Log {
  /** Writes and exports what is left. */
  close(): Promise<void>;
}

/** Discards everything. */
export const silent: Log = { info() {}, warn() {}, error() {} };
