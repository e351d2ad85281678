/** Stores the state of the log other than its records: topics, positions of groups, unfinished transactions. */
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { openSqlite } from '../sqlite-opening.ts';

/** A topic as stored by the log. */
export interface StoredTopic {
  readonly name: string;
  readonly partitions: number;
  readonly retentionMs: number;
  readonly retentionBytes: number;
  readonly maxMessageBytes: number;
}

/** A group's position in a partition. */
export interface Position {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  /** Next offset to consume */
  readonly committed: number;
  /** Last offset of the range that was delivered and is not acknowledged; `undefined` if there is no claimed range. */
  readonly claimed: number | undefined;
}

const schema = `
  CREATE TABLE IF NOT EXISTS topics (
    name TEXT PRIMARY KEY, partitions INTEGER NOT NULL, retention_ms INTEGER NOT NULL,
    retention_bytes INTEGER NOT NULL, max_message_bytes INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS positions (
    consumer_group TEXT NOT NULL, topic TEXT NOT NULL, topic_partition INTEGER NOT NULL,
    committed INTEGER NOT NULL, claimed INTEGER,
    PRIMARY KEY (consumer_group, topic, topic_partition)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS unfinished_transactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL
  ) STRICT;
`;

const toKey = (group: string, topic: string, partition: number): string => JSON.stringify([group, topic, partition]);

const toRowValues = ({ group, topic, partition, committed, claimed }: Position) =>
  [group, topic, partition, committed, claimed ?? null] as const;

const remedy =
  'Restore the data directory from a backup. Without a backup, move the whole log directory away and start with OIQ_NEW_INSTALLATION=true: records that have not landed yet and the bytes of dead letters are lost. Do not remove this file alone: consumer groups would start at the oldest stored record and land records twice';

/** Opens the file in a directory, or creates it. */
export const openOffsetStore = (directory: string): OffsetStore => {
  const path = join(directory, 'offsets.sqlite');
  return openSqlite(path, remedy, () => new OffsetStore(path));
};

interface PendingSave {
  readonly position: Position;
  readonly onSaved: () => void;
  readonly onFailed: (error: unknown) => void;
}

/** How long positions wait for others, to share one sync. */
const maxBatchDelayMs = 2;

/**
 * Every write is durable when the call returns, or when its promise resolves. Reads are served from memory, since no
 * other process writes the file.
 */
export class OffsetStore {
  readonly #database: DatabaseSync;
  readonly #saveTopic: StatementSync;
  readonly #savePosition: StatementSync;
  readonly #beginTransaction: StatementSync;
  readonly #endTransaction: StatementSync;
  readonly #positions = new Map<string, Position>();
  #pendingSaves: PendingSave[] = [];
  #saveTimer: NodeJS.Timeout | undefined;
  #saveAt = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
    this.#database.exec(schema);
    this.#saveTopic = this.#database.prepare(
      `INSERT INTO topics VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET partitions = excluded.partitions,
       retention_ms = excluded.retention_ms, retention_bytes = excluded.retention_bytes, max_message_bytes = excluded.max_message_bytes`,
    );
    this.#savePosition = this.#database.prepare(
      `INSERT INTO positions VALUES (?, ?, ?, ?, ?) ON CONFLICT (consumer_group, topic, topic_partition)
       DO UPDATE SET committed = excluded.committed, claimed = excluded.claimed`,
    );
    this.#beginTransaction = this.#database.prepare('INSERT INTO unfinished_transactions (name) VALUES (?)');
    this.#endTransaction = this.#database.prepare('DELETE FROM unfinished_transactions WHERE id = ?');
    for (const row of this.#database.prepare('SELECT * FROM positions').all()) {
      const position = {
        group: String(row['consumer_group']),
        topic: String(row['topic']),
        partition: Number(row['topic_partition']),
        committed: Number(row['committed']),
        claimed: row['claimed'] === null ? undefined : Number(row['claimed']),
      };
      this.#positions.set(toKey(position.group, position.topic, position.partition), position);
    }
  }

  topics(): StoredTopic[] {
    return this.#database
      .prepare('SELECT * FROM topics')
      .all()
      .map((row) => ({
        name: String(row['name']),
        partitions: Number(row['partitions']),
        retentionMs: Number(row['retention_ms']),
        retentionBytes: Number(row['retention_bytes']),
        maxMessageBytes: Number(row['max_message_bytes']),
      }));
  }

  saveTopic({ name, partitions, retentionMs, retentionBytes, maxMessageBytes }: StoredTopic): void {
    this.#saveTopic.run(name, partitions, retentionMs, retentionBytes, maxMessageBytes);
  }

  position(group: string, topic: string, partition: number): Position | undefined {
    return this.#positions.get(toKey(group, topic, partition));
  }

  /** Groups that ever ran on a topic. */
  listGroups(topic: string): string[] {
    const groups = new Set<string>();
    for (const position of this.#positions.values()) if (position.topic === topic) groups.add(position.group);
    return [...groups];
  }

  /** Deletes a group's positions; returns false if it has none. */
  deleteGroup(group: string): boolean {
    this.#database.prepare('DELETE FROM positions WHERE consumer_group = ?').run(group);
    const keys = [...this.#positions].filter(([, position]) => position.group === group).map(([key]) => key);
    for (const key of keys) this.#positions.delete(key);
    return keys.length > 0;
  }

  /** Renames a group, atomically. Existing positions of the new name stay. */
  rename(from: string, to: string): void {
    if (this.#isClosed) throw new Error('the bus is closed');
    const movedPositions = [...this.#positions.values()].filter(({ group }) => group === from);
    if (movedPositions.length === 0) return;
    this.#database.exec('BEGIN IMMEDIATE');
    this.#database.prepare('UPDATE OR IGNORE positions SET consumer_group = ? WHERE consumer_group = ?').run(to, from);
    this.#database.prepare('DELETE FROM positions WHERE consumer_group = ?').run(from);
    this.#database.exec('COMMIT');
    for (const position of movedPositions) {
      const key = toKey(to, position.topic, position.partition);
      this.#positions.delete(toKey(from, position.topic, position.partition));
      if (!this.#positions.has(key)) this.#positions.set(key, { ...position, group: to });
    }
  }

  save(position: Position): void {
    // After a close, nothing is acknowledged; the records are delivered again after the next opening.
    if (this.#isClosed) throw new Error('the bus is closed');
    this.#savePosition.run(...toRowValues(position));
    this.#positions.set(toKey(position.group, position.topic, position.partition), position);
  }

  /**
   * Like `save`, but shares one sync with the positions that other calls save within `withinMs`. Resolves when the
   * position is durable; until then, `position` returns the previous one.
   */
  saveBatched(position: Position, withinMs = maxBatchDelayMs): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the bus is closed'));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#pendingSaves.push({ position, onSaved: resolve, onFailed: reject });
    const saveAt = performance.now() + withinMs;
    if (saveAt < this.#saveAt) {
      clearTimeout(this.#saveTimer);
      this.#saveAt = saveAt;
      this.#saveTimer = setTimeout(() => this.#savePending(), withinMs);
    }
    return promise;
  }

  #savePending(): void {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    this.#saveAt = Number.POSITIVE_INFINITY;
    const pendingSaves = this.#pendingSaves.splice(0);
    try {
      if (pendingSaves.length > 1) this.#database.exec('BEGIN IMMEDIATE');
      for (const { position } of pendingSaves) this.#savePosition.run(...toRowValues(position));
      if (pendingSaves.length > 1) this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      for (const { onFailed } of pendingSaves) onFailed(error);
      return;
    }
    for (const { position, onSaved } of pendingSaves) {
      this.#positions.set(toKey(position.group, position.topic, position.partition), position);
      onSaved();
    }
  }

  /** A transaction counts as aborted from its beginning until `commitTransaction`, so a crash in between aborts it. */
  beginTransaction(name: string): number {
    return Number(this.#beginTransaction.run(name).lastInsertRowid);
  }

  commitTransaction(id: number): void {
    this.#endTransaction.run(id);
  }

  unfinishedTransactions(): number[] {
    return this.#database
      .prepare('SELECT id FROM unfinished_transactions')
      .all()
      .map((row) => Number(row['id']));
  }

  close(): void {
    this.#isClosed = true;
    this.#savePending();
    this.#database.close();
  }
}
