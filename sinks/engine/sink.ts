import type { Table } from '../../schemas/tables/table.ts';
import type { Topic } from '../../schemas/topic.ts';
import type { Scanner } from '../scan/scanner.ts';

/** A sink: one consumer group that lands messages of some topics as rows. */
export interface Sink {
  /** The consumer group is `sinks.<name>`. */
  readonly name: string;
  readonly summary: string;
  readonly inputs: readonly SinkInput[];
  /** Where messages go that can never be processed; `drop` (with a line in the log) only if the input is the dead letter itself, or written by the platform alone. */
  readonly unprocessable: 'dead-letter' | 'drop';
  /** Where the positions of messages of derived topics land (`landed` in `schemas/tables/parts.ts`); without it, such messages land as often as they lie on the bus. */
  readonly positions?: Table;
  /** Of telemetry: the table of which it is told up to when records have been received (`Columns.recordWatermark`), once a range has landed. */
  readonly tells?: Table;
  /** Makes what turns its messages into rows. Called in the scan threads, which load no scanner but those they use. */
  scanner(): Promise<Scanner>;
}

export interface SinkInput {
  readonly topic: Topic;
  /** Added to the partition in the stored column, so that the topics of one table are distinct. */
  readonly partitionOffset: number;
}

/** Declares a sink: its inputs in the order in which their partitions are numbered. */
export const defineSink = ({
  inputs,
  unprocessable = 'dead-letter',
  ...definition
}: Pick<Sink, 'name' | 'summary' | 'scanner'> &
  Partial<Pick<Sink, 'unprocessable' | 'positions' | 'tells'>> & {
    readonly inputs: readonly (Topic | SinkInput)[];
  }): Sink => ({
  ...definition,
  unprocessable,
  inputs: inputs.map((input) => ('topic' in input ? input : { topic: input, partitionOffset: 0 })),
});
