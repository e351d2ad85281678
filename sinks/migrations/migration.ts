import type { ServerColumns } from '../../schemas/ports/columns.ts';

/** One step of the tables' history. Released steps never change; a later one corrects. */
export interface Migration {
  /** 1, 2, 3 …, without gaps. */
  readonly id: number;
  readonly name: string;
  /** Repeatable, and safe beside another run of itself: a crash or a second process may cause both. */
  up(columns: ServerColumns): Promise<void>;
}
