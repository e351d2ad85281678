/** Embedded stores of a process that kills itself when it reaches a stage for the N-th time. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import type { Bus, Message } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Collection, CollectionDefinition, Documents } from '../../schemas/ports/documents.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { topics } from '../../schemas/topics.ts';

/** The stages at which a process can be killed. */
export type Stage =
  | 'before a statement'
  | 'after an answer'
  | 'before a save'
  | 'between the parts of a save'
  | 'while it saves'
  | 'between a save and what it publishes'
  | 'before it publishes'
  | 'while it publishes'
  | 'after it published'
  | 'before an insert'
  | 'after an insert';

/** The delay between reaching a stage and the kill. */
const heldMs = 250;

interface Death {
  readonly directory: string;
  /** `undefined` if the process must not be killed. */
  readonly stage: string | undefined;
  readonly times: number;
}

/** Opens the stores. */
export const openDying = async ({ directory, stage: deathStage, times }: Death) => {
  /** The time of the last published evaluation of each rule. */
  const evaluated = new Map<string, number>();
  const note = ({ topic, value }: Pick<Message, 'topic' | 'value'>): void => {
    if (topic !== topics.alertEvaluations.name) return;
    for (const { ruleId, atMs } of topics.alertEvaluations.value.parse(JSON.parse(Buffer.from(value).toString())))
      evaluated.set(ruleId, Math.max(atMs, evaluated.get(ruleId) ?? 0));
  };
  let left = times;
  const isTime = (stage: Stage): boolean => stage === deathStage && --left === 0;
  /** Delays the operation until the kill, so a caller that does not await it continues, which the test detects. */
  const reached = async (stage: Stage): Promise<void> => {
    if (!isTime(stage)) return;
    await pause(heldMs);
    process.kill(process.pid, 'SIGKILL');
  };

  const stored = await openChdbColumns({ directory: join(directory, 'columns') });
  const columns: Columns = {
    async insert(...block) {
      await reached('before an insert');
      await stored.insert(...block);
      await reached('after an insert');
    },
    recordWatermark: (...landings) => stored.recordWatermark(...landings),
    forTenant(tenantId) {
      const own = stored.forTenant(tenantId);
      const around = async <Result>(statement: () => Promise<Result>): Promise<Result> => {
        await reached('before a statement');
        const result = await statement();
        await reached('after an answer');
        return result;
      };
      return {
        ...own,
        query: (...args) => around(() => own.query(...args)),
        queryNative: (...args) => around(() => own.queryNative(...args)),
      };
    },
    query: (sql, parameters, limits) => stored.query(sql, parameters, limits),
    execute: (sql) => stored.execute(sql),
    listServers: () => stored.listServers(),
    handleTablesChanged: () => stored.handleTablesChanged(),
    check: () => stored.check(),
    close: () => stored.close(),
  };

  const storedDocuments = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });

  const saving = async <Result>(write: () => Promise<Result>): Promise<Result> => {
    await reached('before a save');
    const writing = write();
    if (isTime('while it saves')) setImmediate(() => process.kill(process.pid, 'SIGKILL'));
    const result = await writing;
    await reached('between a save and what it publishes');
    return result;
  };

  const dying = <Fields extends object>(
    { name }: CollectionDefinition<Fields>,
    own: Collection<Fields>,
  ): Collection<Fields> => {
    const all: Collection<Fields> = {
      insert: (fields) => own.insert(fields),
      find: (id) => own.find(id),
      list: (options) => own.list(options),
      count: (filter) => own.count(filter),
      countValues: (fields, options) => own.countValues(fields, options),
      replace: (id, fields, version) => own.replace(id, fields, version),
      update: (id, changes, version) => own.update(id, changes, version),
      delete: (id, version) => own.delete(id, version),
    };
    if (name === processorStates.name)
      return {
        ...all,
        insert: (fields) => saving(() => own.insert(fields)),
        replace: (id, fields, version) => saving(() => own.replace(id, fields, version)),
      };
    if (name !== processorStateChunks.name) return all;
    return {
      ...all,
      async insert(fields) {
        const chunk = await own.insert(fields);
        await reached('between the parts of a save');
        return chunk;
      },
    };
  };

  const documents: Documents = {
    forTenant(tenantId) {
      const own = storedDocuments.forTenant(tenantId);
      return { tenantId, collection: (definition) => dying(definition, own.collection(definition)) };
    },
    ensureCollections: (definitions) => storedDocuments.ensureCollections(definitions),
    findInAllTenants: (definition, filter) => storedDocuments.findInAllTenants(definition, filter),
    transaction: (work) => storedDocuments.transaction(work),
    follow: (definition, onChange) => storedDocuments.follow(definition, onChange),
    check: () => storedDocuments.check(),
    close: () => storedDocuments.close(),
  };

  const stream = await openSegmentsBus({ directory: join(directory, 'bus'), lockWaitMs: 10_000 });
  const bus: Bus = {
    ensureTopics: (all) => stream.ensureTopics(all),
    async producer() {
      const producer = await stream.producer();
      return {
        async publish(messages) {
          await reached('before it publishes');
          if (isTime('while it publishes')) {
            await producer.publish(messages.slice(0, Math.ceil(messages.length / 2)));
            process.kill(process.pid, 'SIGKILL');
          }
          await producer.publish(messages);
          await reached('after it published');
          for (const message of messages) note(message);
        },
        transaction: (name, work) => producer.transaction(name, work),
        close: () => producer.close(),
      };
    },
    createConsumer: (options) => stream.createConsumer(options),
    read: (topic, partition, first, last) => stream.read(topic, partition, first, last),
    createFollower: () => stream.createFollower(),
    offsets: (topic) => stream.offsets(topic),
    lag: (group, all) => stream.lag(group, all),
    members: (groups) => stream.members(groups),
    deleteGroup: (group) => stream.deleteGroup(group),
    check: () => stream.check(),
    close: () => stream.close(),
  };
  const { name: topic } = topics.alertEvaluations;
  for (const { partition, earliest, end } of await bus.offsets(topic))
    for await (const { value } of bus.read(topic, partition, earliest, end)) note({ topic, value });
  const close = async (): Promise<void> => {
    await stored.close();
    await storedDocuments.close();
    await stream.close();
  };
  /** The same stores without kills. */
  const living = { columns: stored, documents: storedDocuments, bus: stream };
  return { columns, documents, bus, living, evaluated, close };
};
