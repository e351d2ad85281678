/** Reads new records of partitions without a consumer group. */
import type { BusRecord, FetchedRecords, PartitionFollower } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Cluster } from './cluster.ts';
import { Fetcher } from './fetcher.ts';
import { FatalBusError, toBusRecord } from './wire.ts';

/** A follower that sends one request to each broker for all partitions that it follows there. */
export class KafkaFollower implements PartitionFollower {
  readonly #cluster: Cluster;
  readonly #fetcher: Fetcher;
  readonly #log: Log;
  #closing: Promise<void> | undefined;

  /** The follower owns the cluster and closes it. */
  constructor(cluster: Cluster, log: Log) {
    this.#cluster = cluster;
    this.#fetcher = new Fetcher(cluster, log);
    this.#log = log;
  }

  async next(topic: string, partition: number, offset: number): Promise<FetchedRecords | undefined> {
    const batch = await this.#fetcher.fetch(topic, partition, offset);
    if (batch === undefined) return undefined;
    const records: BusRecord[] = [];
    for (const { offset: recordOffset, timestampMs, record } of batch.records)
      try {
        records.push(toBusRecord(topic, partition, recordOffset, timestampMs, record));
      } catch (error) {
        if (!(error instanceof FatalBusError)) throw error;
        this.#log.warn(
          { topic, partition, offset: recordOffset, reason: error.message },
          'a damaged record is skipped',
        );
      }
    const { next, release } = batch;
    return { records, next, release };
  }

  close(): Promise<void> {
    this.#fetcher.close();
    this.#closing ??= this.#cluster.close();
    return this.#closing;
  }
}
