/** Structured logs: a constant text and fields; lifecycle and failures only, never a line a record. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Discards everything. */
export const silent: Log = { info() {}, warn() {}, error() {} };
