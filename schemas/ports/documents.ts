/**
 * The documents port: configuration as JSON documents. SQLite and mingo in the embedded default, MongoDB in a cluster.
 * A document belongs to one tenant. The store keys documents by tenant and ID, so that a tenant's ID never reaches
 * another tenant's document. Documents without a tenant belong to `platformTenant`.
 */

export const platformTenant = '-';

/** Fields that the store adds to every document. */
export interface StoredMetadata {
  readonly id: string;
  /** Version: 1 at first, incremented by each write. */
  readonly version: number;
  /** ISO-8601 UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * A collection, declared once. `unique` lists sets of fields that are unique within a tenant; `uniqueEverywhere`
 * across all tenants. The fields contain scalars. A document in which a field of a set is missing or null is exempt from that
 * set.
 */
export interface CollectionDefinition<Fields extends object> {
  readonly name: string;
  readonly unique?: readonly (readonly string[])[];
  readonly uniqueEverywhere?: readonly (readonly string[])[];
  /** Field paths that queries filter or sort by. */
  readonly indexes?: readonly (readonly string[])[];
  /** Fields for sorting long lists, in either direction. */
  readonly sorts?: readonly string[];
  /** Documents remain as evidence when their organization is erased. Personal names are removed from them. */
  readonly evidence?: true;
  /** Only for the type parameter; never set or read. */
  readonly fields?: Fields;
}

export const defineCollection = <Fields extends object>(
  definition: CollectionDefinition<Fields>,
): CollectionDefinition<Fields> => definition;

/**
 * MongoDB's query language, limited to the part that mingo supports: comparison, logical, `$in`, `$exists`, `$regex`,
 * `$elemMatch`, dotted paths.
 */
export type Filter = Readonly<Record<string, unknown>>;

/** Returns a filter for fields that contain the text, ignoring case. Special characters are escaped. */
export const buildContainsFilter = (text: string): { readonly $regex: string; readonly $options: 'i' } => ({
  // MongoDB rejects a pattern with a literal NUL character.
  $regex: text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00'),
  $options: 'i',
});

export interface FindOptions {
  readonly filter?: Filter;
  /** Field path → 1 or -1. The fields contain scalars. `id` is always appended for a total order. */
  readonly sort?: Readonly<Record<string, 1 | -1>>;
  /** Default: 1,000. Read larger results page by page. */
  readonly limit?: number;
  /**
   * Opaque cursor of an earlier page with the same filter and sort. Throws `PermanentError` (`bad-cursor`) if it is
   * invalid.
   */
  readonly after?: string | undefined;
}

export interface CountOptions extends Pick<FindOptions, 'filter' | 'limit'> {
  /**
   * Selected values of some of the counted fields. The values of the other fields are counted among the documents with
   * these values.
   */
  readonly selectedValues?: Readonly<Record<string, ValueCount['value']>>;
}

export interface Page<Document> {
  readonly items: readonly Document[];
  readonly nextCursor: string | null;
}

/** A value and the number of documents with it. */
export interface ValueCount {
  readonly value: string | number | boolean;
  readonly count: number;
}

/**
 * Thrown by writes. `duplicate`: the fields in `fields` are not unique. `version`: the document was changed or deleted.
 */
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
   * Inserts a document, and generates an ID if none is given. Rejects with `ConflictError` (`duplicate`). The store
   * saves the JSON form of the fields (a date becomes text, `undefined` is dropped), of at most 4 MB. Fields with the
   * names of `StoredMetadata` are dropped.
   */
  insert(fields: Fields & { readonly id?: string }): Promise<Fields & StoredMetadata>;
  find(id: string): Promise<(Fields & StoredMetadata) | undefined>;
  list(options?: FindOptions): Promise<Page<Fields & StoredMetadata>>;
  count(filter?: Filter): Promise<number>;
  /**
   * Returns the number of matches for each value of each field, most frequent first, with ties in any order, at most
   * `limit` (1,000). A list counts once for each of its values. Null and missing fields are not counted. The fields
   * must not be those of `StoredMetadata` or nested in each other.
   */
  countValues(fields: readonly string[], options?: CountOptions): Promise<readonly (readonly ValueCount[])[]>;
  /**
   * Replaces all fields. With `version`, only if the document has that version: otherwise rejects with `ConflictError`
   * (`version`), also if the document does not exist.
   */
  replace(id: string, fields: Fields, version?: number): Promise<Fields & StoredMetadata>;
  /** Sets the given top-level fields; `undefined` removes a field. `version` works as in `replace`. */
  update(id: string, changes: Partial<Fields>, version?: number): Promise<Fields & StoredMetadata>;
  /** Deletes a document. Returns `false` if it did not exist. `version` works as in `replace`. */
  delete(id: string, version?: number): Promise<boolean>;
}

export interface TenantDocuments {
  readonly tenantId: string;
  collection<Fields extends object>(definition: CollectionDefinition<Fields>): Collection<Fields>;
}

/** One change of the feed. `document` is absent if it was deleted. */
export interface DocumentChange<Fields extends object = Record<string, unknown>> {
  readonly tenantId: string;
  readonly id: string;
  readonly document: (Fields & StoredMetadata) | undefined;
}

/**
 * A running feed. `staleMs` returns the milliseconds since the feed was last known to be complete, and `Infinity` after
 * it failed. Readers of cached permissions reject requests if it exceeds their limit.
 */
export interface Feed {
  getStaleMs(): number;
  close(): Promise<void>;
}

export interface Documents {
  forTenant(tenantId: string): TenantDocuments;
  /** Creates the indexes of the declared collections. */
  ensureCollections(definitions: readonly CollectionDefinition<object>[]): Promise<void>;
  /**
   * Returns the matching documents of all tenants. Only for caches and jobs of the platform, never with a tenant's
   * input.
   */
  findInAllTenants<Fields extends object>(
    definition: CollectionDefinition<Fields>,
    filter?: Filter,
  ): AsyncIterable<Fields & StoredMetadata & { readonly tenantId: string }>;
  /**
   * Commits all writes through `transaction.forTenant(…)` atomically. Commits none if `work` or one of the writes
   * rejects, even if `work` continues. May run `work` again after a write conflict. `work` must write only through
   * `transaction`: other writes are rejected. It may await nothing but its documents, because other writers wait for it:
   * a turn of the event loop without an operation of the transaction rejects it. It may take at most 10 seconds.
   */
  transaction<Result>(work: (transaction: Pick<Documents, 'forTenant'>) => Promise<Result>): Promise<Result>;
  /**
   * Calls `onChange` for every existing document (before the promise resolves) and then for every change of any
   * instance, in order, within a second. Resumes without a gap after a lost connection.
   */
  follow<Fields extends object>(
    definition: CollectionDefinition<Fields>,
    onChange: (change: DocumentChange<Fields>) => void,
  ): Promise<Feed>;
  check(): Promise<void>;
  close(): Promise<void>;
}
