import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isWellFormed } from '../runtime/canonical-json.ts';
import { addToList } from '../schemas/add-to-list.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Collection, CollectionDefinition, Documents, StoredMetadata } from '../schemas/ports/documents.ts';
import type { Difference } from '../schemas/resources/audit-record.ts';
import type { Actor, Caller } from './callers/caller.ts';
import { createFieldErrors } from './errors.ts';
import { appendRecords, type NewAuditRecord } from './groups/audit/chain/chain.ts';
import { findDifferences } from './groups/audit/chain/difference.ts';
import { runExclusive } from './groups/audit/chain/keyed-mutex.ts';

/** A change of an object, for the audit log. */
export interface RecordedChange {
  /** Id of the object; its type is the first part of the action. */
  readonly id: string;
  /** Display name */
  readonly name?: string;
  /**
   * States of the object; absent before its creation and after its removal. Their differences are recorded, with
   * secrets masked.
   */
  readonly before?: object | undefined;
  readonly after?: object | undefined;
  /** `<resource type>.<verb>`; defaults to the operation's first action. */
  readonly action?: string;
  /** Organization; defaults to the caller's. Required without a session. */
  readonly tenantId?: string;
  /** Actor; defaults to the caller. */
  readonly actor?: Actor;
}

export interface AuditedTransaction extends Pick<Documents, 'forTenant'> {
  record(change: RecordedChange): void;
  /** Must be called when nothing changed, so that no record is required. */
  markUnchanged(): void;
}

/** Whether a document already has all of these fields. */
export const hasSameFields = (document: object | undefined, fields: object): boolean =>
  Object.entries(fields).every(([name, value]) =>
    isDeepStrictEqual((document as Record<string, unknown> | undefined)?.[name], value),
  );

/**
 * Runs `work` in one transaction of the documents and appends its recorded changes to the audit chain in the same
 * transaction: the change and its record are both stored, or neither. `work` may run again after a write conflict.
 * Throws if a change recorded nothing and did not call `unchanged`.
 */
export type Transact = <Result>(work: (scope: AuditedTransaction) => Promise<Result>) => Promise<Result>;

/** The request that makes the changes. */
export interface TransactContext {
  readonly caller: Caller | undefined;
  readonly request: { readonly requestId: string; readonly address: string };
  /** Actions declared by the operation */
  readonly actions: readonly string[];
}

const anonymousActor: Actor = { type: 'anonymous', id: '', name: '' };

/**
 * Rejects new text with a lone surrogate: it cannot be encoded in UTF-8, so other programs could not verify the hash of
 * the audit record. Text that earlier versions stored can still be replaced.
 */
const requireWellFormed = (changes: readonly Difference[]): void => {
  const details = changes
    .filter(({ path, after }) => after !== undefined && !(isWellFormed(path) && isWellFormed(after)))
    .map(({ path }) => ({
      path: path.toWellFormed(),
      message: 'must be well-formed Unicode: it has a lone surrogate',
    }));
  if (details.length > 0) throw createFieldErrors(details);
};

interface ChangePorts {
  readonly documents: Documents;
  readonly clock: Clock;
  /** Receives committed writes immediately. */
  readonly directory?: DocumentCache;
}

/** A cache of documents in memory. */
interface DocumentCache {
  /** Updates a document to its current state; undefined if it was deleted. */
  applyWrite(
    definition: CollectionDefinition<object>,
    tenantId: string,
    id: string,
    document: StoredMetadata | undefined,
  ): void;
}

type DocumentWrite = Parameters<DocumentCache['applyWrite']>;

/** Returns the documents of a transaction; each write is added to `written`. */
const trackWrites = (
  transaction: Pick<Documents, 'forTenant'>,
  writes: DocumentWrite[],
): Pick<Documents, 'forTenant'> => ({
  forTenant(tenantId) {
    const tenantDocuments = transaction.forTenant(tenantId);
    return {
      tenantId,
      collection<Fields extends object>(definition: CollectionDefinition<Fields>): Collection<Fields> {
        const stored = tenantDocuments.collection(definition);
        const trackWrite = async (writing: Promise<Fields & StoredMetadata>): Promise<Fields & StoredMetadata> => {
          const document = await writing;
          writes.push([definition, tenantId, document.id, document]);
          return document;
        };
        return {
          find: (id) => stored.find(id),
          list: (options) => stored.list(options),
          count: (filter) => stored.count(filter),
          countValues: (fields, options) => stored.countValues(fields, options),
          insert: (fields) => trackWrite(stored.insert(fields)),
          replace: (id, fields, version) => trackWrite(stored.replace(id, fields, version)),
          update: (id, changes, version) => trackWrite(stored.update(id, changes, version)),
          async delete(id, version) {
            const isDeleted = await stored.delete(id, version);
            if (isDeleted) writes.push([definition, tenantId, id, undefined]);
            return isDeleted;
          },
        };
      },
    };
  },
});

export const createTransact = ({ documents, clock, directory }: ChangePorts, context: TransactContext): Transact => {
  const createRecord = (change: RecordedChange): NewAuditRecord => {
    const { action = context.actions[0] } = change;
    if (action === undefined || !context.actions.includes(action))
      throw new Error(`the operation does not declare the action ${action ?? '(none)'} in "audit"`);
    const changes = findDifferences(change.before, change.after);
    requireWellFormed(changes);
    const { type, id, name } = change.actor ?? context.caller?.actor ?? anonymousActor;
    return {
      at: new Date(clock.now()).toISOString(),
      action,
      actor: { type, id },
      resource: { type: action.slice(0, action.indexOf('.')), id: change.id },
      requestId: context.request.requestId,
      details: {
        actorName: name,
        resourceName: change.name ?? '',
        address: context.request.address,
        changes,
      },
    };
  };

  const transact = async <Result>(work: (scope: AuditedTransaction) => Promise<Result>): Promise<Result> => {
    let writes: DocumentWrite[] = [];
    const done = await documents.transaction(async (transaction) => {
      writes = [];
      const chains = new Map<string, NewAuditRecord[]>();
      let isUnchanged = false;
      const result = await work({
        ...trackWrites(transaction, writes),
        record(changedResource) {
          const tenantId = changedResource.tenantId ?? context.caller?.tenantId;
          if (tenantId === undefined)
            throw new Error('a change without a session must have the id of its organization');
          addToList(chains, tenantId, createRecord(changedResource));
        },
        markUnchanged() {
          isUnchanged = true;
        },
      });
      if (chains.size === 0 && !isUnchanged) throw new Error('a change must record its effect');
      for (const [tenantId, entries] of chains) await appendRecords(transaction, tenantId, entries);
      return result;
    });
    for (const write of writes) directory?.applyWrite(...write);
    return done;
  };

  const chainTenantId = context.caller?.tenantId;
  return (work) =>
    chainTenantId === undefined ? transact(work) : runExclusive(documents, chainTenantId, () => transact(work));
};

/** Returns the actor for changes by the platform itself, for the audit log. */
export const createSystemActor = (name: string): Actor => ({ type: 'system', id: '', name });

/** Returns a transaction for a change without a request. */
export const createSystemTransact = (ports: { readonly documents: Documents; readonly clock: Clock }, action: string) =>
  createTransact(ports, { caller: undefined, actions: [action], request: { requestId: randomUUID(), address: '' } });
