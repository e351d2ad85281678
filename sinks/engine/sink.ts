import type { Table } from '../../schemas/tables/table.ts';
import type { Topic } from '../../schemas/topic.ts';
import type { Scanner } from '../scan/scanner.ts';

/** A sink: one consumer group that lands messages of some topics as rows. */
export interface Sink {
  /** The consumer group is `sinks.<name>`. */
  readonly name: string;
  readonly summary: string;
  readonly inputs: readonly SinkInput[];
  /**
   * Destination of messages that can never be processed. Use `drop` (with a log line) only if the input is the
   * dead-letter topic itself, or is written only by the platform.
   */
  readonly unprocessable: 'dead-letter' | 'drop';
  /**
   * Table with the positions of messages of derived topics (`landed` in `schemas/tables/parts.ts`). Without it,
   * duplicates of these messages on the bus land as well.
   */
  readonly positionsTable?: Table;
  /** For telemetry: the table whose reception time is recorded (`Columns.recordWatermark`) after a range has landed. */
  readonly watermarkTable?: Table;
  /**
   * Creates the scanner, which converts messages to rows. Called in the scan threads, which load only the scanners that
   * they use.
   */
  scanner(): Promise<Scanner>;
}

export interface SinkInput {
  readonly topic: Topic;
  /** Added to the partition in the stored column, so that partitions of several topics in one table are distinct. */
  readonly partitionOffset: number;
}

/** Declares a sink. The order of its inputs determines the numbers of their partitions. */
export const defineSink = ({
  inputs,
  unprocessable = 'dead-letter',
  ...definition
}: Pick<Sink, 'name' | 'summary' | 'scanner'> &
  Partial<Pick<Sink, 'unprocessable' | 'positionsTable' | 'watermarkTable'>> & {
    readonly inputs: readonly (Topic | SinkInput)[];
  }): Sink => ({
  ...definition,
  unprocessable,
  inputs: inputs.map((input) => ('topic' in input ? input : { topic: input, partitionOffset: 0 })),
});
