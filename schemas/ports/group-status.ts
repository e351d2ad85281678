/** How far a consumer group has come in one partition. */
export interface PartitionStatus {
  readonly topic: string;
  readonly partition: number;
  /** Messages that are not committed. */
  readonly lag: number;
  /** Age of the oldest of them; 0 without any. */
  readonly ageMs: number;
}

/** How a consumer group stands: of a sink, a processor or a schedule. */
export interface GroupStatus {
  readonly group: string;
  /** Empty while it is not known. */
  readonly partitions: readonly PartitionStatus[];
  /** Undefined while it is not known. */
  readonly members: number | undefined;
  /** What is wrong, in words that follow the name of the group; undefined where nothing is. */
  readonly problem: string | undefined;
  /** Since when it is so. */
  readonly sinceMs: number | undefined;
}

/** The consumer groups that this process looks at. */
export interface GroupStatuses {
  /** As the last look found them; empty before the first. */
  groups(): readonly GroupStatus[];
}
