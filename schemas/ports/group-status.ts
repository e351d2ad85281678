/** Progress of a consumer group in one partition. */
export interface PartitionStatus {
  readonly topic: string;
  readonly partition: number;
  /** Number of uncommitted messages. */
  readonly lag: number;
  /** Age of the oldest uncommitted message; 0 without any. */
  readonly ageMs: number;
}

/** Status of a consumer group of a sink, a processor or a schedule. */
export interface GroupStatus {
  readonly group: string;
  /** Empty while unknown. */
  readonly partitions: readonly PartitionStatus[];
  /** `undefined` while unknown. */
  readonly members: number | undefined;
  /** Description of the problem, as words that follow the group's name; `undefined` without a problem. */
  readonly problem: string | undefined;
  /** Start of the problem. */
  readonly sinceMs: number | undefined;
}

/** The consumer groups that this process monitors. */
export interface GroupStatuses {
  /** Returns the result of the last check; empty before the first. */
  getStatuses(): readonly GroupStatus[];
}
