/**
 * The documents port: configuration as JSON documents. SQLite and mingo in the embedded default, MongoDB in a cluster.
 * A document belongs to one tenant; the store keys it by tenant and id, so that one tenant's id never reaches
 * another's document. What belongs to no tenant lives under `platformTenant`.
 */

export const platformTenant = '-';

/** What the store adds to every document. */
export interface Stored {
  readonly id: string;
  /** 1 at first, one more at each write. */
  readonly version: number;
  /** ISO-8601 UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * A collection, declared once. `unique` lists sets of fields that are unique within a tenant; `uniqueEverywhere` across all.
 * They hold scalars; a document that lacks one of a set, or holds null there, is not bound by that set.
 */
export interface CollectionDefinition<Fields extends object> {
  readonly name: string;
  readonly unique?: readonly (readonly string[])[];
  readonly uniqueEverywhere?: readonly (readonly string[])[];
  /** Field paths that queries filter or sort by. */
  readonly indexes?: readonly (readonly string[])[];
  /** Fields that long lists are sorted by, in either direction. */
  readonly sorts?: readonly string[];
  /** Documents stay when their organization is erased: they are evidence, and what names people is taken out of them. */
  readonly evidence?: true;
  /** Carries the type; never read. */
  readonly fields?: Fields;
}

export const defineCollection = <Fields extends object>(
  definition: CollectionDefinition<Fields>,
): CollectionDefinition<Fields> => definition;

/** MongoDB's query language, the part that mingo shares: comparison, logical, `$in`, `$exists`, `$regex`, `$elemMatch`, dotted paths. */
export type Filter = Readonly<Record<string, unknown>>;

/** What a filter asks of a field that contains the text, in capitals or not, whatever characters it has. */
export const containing = (text: string): { readonly $regex: string; readonly $options: 'i' } => ({
  // MongoDB refuses a pattern with the character itself.
  $regex: text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00'),
  $options: 'i',
});

export interface FindOptions {
  readonly filter?: Filter;
  /** Field path → 1 or -1. The fields hold scalars. `id` is always appended, so that order is total. */
  readonly sort?: Readonly<Record<string, 1 | -1>>;
  /** Default 1,000: what may be more is read page by page. */
  readonly limit?: number;
  /** Opaque cursor of an earlier page with the same filter and sort. `PermanentError` (`bad-cursor`) when it is none. */
  readonly after?: string | undefined;
}

export interface CountOptions extends Pick<FindOptions, 'filter' | 'limit'> {
  /** Of some of the counted fields a value: the other fields' values are counted among matches that hold it. */
  readonly chosen?: Readonly<Record<string, ValueCount['value']>>;
}

export interface Page<Document> {
  readonly items: readonly Document[];
  readonly nextCursor: string | null;
}

/** A value, and how many documents have it. */
export interface ValueCount {
  readonly value: string | number | boolean;
  readonly count: number;
}

/** Thrown by writes. `duplicate` names the fields in `fields`; `version` means that the document moved on or is gone. */
export class ConflictError extends Error {
  readonly kind: 'duplicate' | 'version';
  readonly fields: readonly string[];

  constructor(
    kind: 'duplicate' | 'version',
    message: string,
    options: { fields?: readonly string[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ConflictError';
    this.kind = kind;
    this.fields = options.fields ?? [];
  }
}

export interface Collection<Fields extends object> {
  /**
   * Makes an id when none is given. Rejects with `ConflictError` (`duplicate`). What is stored is the fields' JSON form
   * (a date becomes text, `undefined` nothing), of 4 MB at most; the names of `Stored` in it are left out.
   */
  insert(fields: Fields & { readonly id?: string }): Promise<Fields & Stored>;
  find(id: string): Promise<(Fields & Stored) | undefined>;
  list(options?: FindOptions): Promise<Page<Fields & Stored>>;
  count(filter?: Filter): Promise<number>;
  /**
   * How many matches have each value of each field: the most frequent first, in any order among equals, `limit` (1,000) at most. A list
   * counts once for each value in it; null and what is missing are no values. No field is one of `Stored`, nor below another.
   */
  counts(fields: readonly string[], options?: CountOptions): Promise<readonly (readonly ValueCount[])[]>;
  /** Replaces all fields. With `version`, only that version: else `ConflictError` (`version`), also when there is no such document. */
  replace(id: string, fields: Fields, version?: number): Promise<Fields & Stored>;
  /** Sets the given top-level fields; `undefined` removes one. Same versions as `replace`. */
  update(id: string, changes: Partial<Fields>, version?: number): Promise<Fields & Stored>;
  /** False when there was none. With `version`, as `replace`. */
  delete(id: string, version?: number): Promise<boolean>;
}

export interface TenantDocuments {
  readonly tenantId: string;
  collection<Fields extends object>(definition: CollectionDefinition<Fields>): Collection<Fields>;
}

/** One change as the feed tells it. `document` is absent when it was deleted. */
export interface Change<Fields extends object = Record<string, unknown>> {
  readonly tenantId: string;
  readonly id: string;
  readonly document: (Fields & Stored) | undefined;
}

/** A running feed. `staleMs` is how long ago the feed was last known to be complete, Infinity once its follower failed; readers of cached rights refuse above their bound. */
export interface Feed {
  staleMs(): number;
  close(): Promise<void>;
}

export interface Documents {
  of(tenantId: string): TenantDocuments;
  /** Creates indexes of the declared collections. */
  ensureCollections(definitions: readonly CollectionDefinition<object>[]): Promise<void>;
  /** All tenants' documents of a collection that match; for the platform's own caches and jobs, never with a tenant's input. */
  everywhere<Fields extends object>(
    definition: CollectionDefinition<Fields>,
    filter?: Filter,
  ): AsyncIterable<Fields & Stored & { readonly tenantId: string }>;
  /**
   * All writes through `transaction.of(…)` are committed together, or none when `work` rejects or one of the writes did (even if
   * `work` went on). May run `work` again after a write conflict. `work` takes 10 seconds at most, and writes through
   * `transaction` alone: a write past it is refused.
   */
  transaction<Result>(work: (transaction: Pick<Documents, 'of'>) => Promise<Result>): Promise<Result>;
  /**
   * Calls `onChange` for every document there is (before the promise resolves) and then for every change, in order,
   * within a second, whichever instance made it. A lost connection is resumed without a gap.
   */
  follow<Fields extends object>(
    definition: CollectionDefinition<Fields>,
    onChange: (change: Change<Fields>) => void,
  ): Promise<Feed>;
  check(): Promise<void>;
  close(): Promise<void>;
}
