import type { ServerColumns } from '../../schemas/ports/columns.ts';

/** One step of the schema history. Released steps never change; a later step corrects them. */
export interface Migration {
  /** 1, 2, 3 …, without gaps. */
  readonly id: number;
  readonly name: string;
  /** Idempotent, and safe to run concurrently: a crash or a second process may cause both. */
  up(columns: ServerColumns): Promise<void>;
}
