import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isWellFormed } from '../runtime/canonical-json.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Collection, CollectionDefinition, Documents, Stored } from '../schemas/ports/documents.ts';
import type { Difference } from '../schemas/resources/audit-record.ts';
import type { Caller, Who } from './callers/caller.ts';
import { invalidFields } from './errors.ts';
import { appendRecords, type NewAuditRecord } from './groups/audit/chain/chain.ts';
import { differencesOf } from './groups/audit/chain/difference.ts';
import { runExclusive } from './groups/audit/chain/keyed-mutex.ts';

/** A change of an object, for the audit log. */
export interface Recorded {
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
  readonly actor?: Who;
}

export interface AuditedTransaction extends Pick<Documents, 'of'> {
  record(what: Recorded): void;
  /** Call it when nothing changed, so that nothing is recorded. */
  unchanged(): void;
}

/** Whether a document already has all of these fields. */
export const hasAlready = (document: object | undefined, fields: object): boolean =>
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

const nobody: Who = { type: 'anonymous', id: '', name: '' };

/**
 * Rejects text with a lone surrogate: it has no UTF-8, so other programs could not verify the hash. Existing text from
 * earlier versions can be replaced.
 */
const refuseIllFormed = (changes: readonly Difference[]): void => {
  const details = changes
    .filter(({ path, after }) => after !== undefined && !(isWellFormed(path) && isWellFormed(after)))
    .map(({ path }) => ({
      path: path.toWellFormed(),
      message: 'must be well-formed Unicode: it has a lone surrogate',
    }));
  if (details.length > 0) throw invalidFields(details);
};

interface ChangePorts {
  readonly documents: Documents;
  readonly clock: Clock;
  /** Receives committed writes immediately. */
  readonly directory?: Learns;
}

/** A cache of documents in memory. */
interface Learns {
  /** Updates a document to its current state; undefined if it was deleted. */
  learn(definition: CollectionDefinition<object>, tenantId: string, id: string, document: Stored | undefined): void;
}

type Written = Parameters<Learns['learn']>;

/** The documents of a transaction; each write is added to `written`. */
const recordingWrites = (transaction: Pick<Documents, 'of'>, written: Written[]): Pick<Documents, 'of'> => ({
  of(tenantId) {
    const own = transaction.of(tenantId);
    return {
      tenantId,
      collection<Fields extends object>(definition: CollectionDefinition<Fields>): Collection<Fields> {
        const stored = own.collection(definition);
        const noted = async (writing: Promise<Fields & Stored>): Promise<Fields & Stored> => {
          const document = await writing;
          written.push([definition, tenantId, document.id, document]);
          return document;
        };
        return {
          find: (id) => stored.find(id),
          list: (options) => stored.list(options),
          count: (filter) => stored.count(filter),
          counts: (fields, options) => stored.counts(fields, options),
          insert: (fields) => noted(stored.insert(fields)),
          replace: (id, fields, version) => noted(stored.replace(id, fields, version)),
          update: (id, changes, version) => noted(stored.update(id, changes, version)),
          async delete(id, version) {
            const deleted = await stored.delete(id, version);
            if (deleted) written.push([definition, tenantId, id, undefined]);
            return deleted;
          },
        };
      },
    };
  },
});

export const transactFor = ({ documents, clock, directory }: ChangePorts, context: TransactContext): Transact => {
  const newRecord = (what: Recorded): NewAuditRecord => {
    const { action = context.actions[0] } = what;
    if (action === undefined || !context.actions.includes(action))
      throw new Error(`the operation does not declare the action ${action ?? '(none)'} in "audit"`);
    const changes = differencesOf(what.before, what.after);
    refuseIllFormed(changes);
    const { type, id, name } = what.actor ?? context.caller?.actor ?? nobody;
    return {
      at: new Date(clock.now()).toISOString(),
      action,
      actor: { type, id },
      resource: { type: action.slice(0, action.indexOf('.')), id: what.id },
      requestId: context.request.requestId,
      details: {
        actorName: name,
        resourceName: what.name ?? '',
        address: context.request.address,
        changes,
      },
    };
  };

  const transact = async <Result>(work: (scope: AuditedTransaction) => Promise<Result>): Promise<Result> => {
    let written: Written[] = [];
    const done = await documents.transaction(async (transaction) => {
      written = [];
      const chains = new Map<string, NewAuditRecord[]>();
      let nothing = false;
      const result = await work({
        ...recordingWrites(transaction, written),
        record(what) {
          const tenantId = what.tenantId ?? context.caller?.tenantId;
          if (tenantId === undefined) throw new Error('a record without a session must name its organization');
          chains.set(tenantId, [...(chains.get(tenantId) ?? []), newRecord(what)]);
        },
        unchanged() {
          nothing = true;
        },
      });
      if (chains.size === 0 && !nothing) throw new Error('a change must record its effect');
      for (const [tenantId, entries] of chains) await appendRecords(transaction, tenantId, entries);
      return result;
    });
    for (const each of written) directory?.learn(...each);
    return done;
  };

  const chain = context.caller?.tenantId;
  return (work) => (chain === undefined ? transact(work) : runExclusive(documents, chain, () => transact(work)));
};

/** Returns the actor for changes by the platform itself, for the audit log. */
export const systemActor = (name: string): Who => ({ type: 'system', id: '', name });

/** Returns a transaction for a change without a request. */
export const systemChange = (ports: { readonly documents: Documents; readonly clock: Clock }, action: string) =>
  transactFor(ports, { caller: undefined, actions: [action], request: { requestId: randomUUID(), address: '' } });
