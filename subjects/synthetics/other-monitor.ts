import type { Problem } from './assertions.ts';

/** A monitor of another format */
export interface OtherMonitor {
  /** Path in the document */
  readonly path: string;
  readonly name: string | null;
  /** Fields of a check, before validation */
  readonly fields: object;
  /** Parts that cannot be converted */
  readonly problems: readonly Problem[];
}
