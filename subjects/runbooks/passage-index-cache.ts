/** In-memory passages of each organization, in sync with its documents */
import { canRead, type PlanReader } from '../../queries/entitlement.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { iterateDocuments } from '../../runtime/documents-in.ts';
import { KeyedMutex } from '../../runtime/keyed-mutex.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import {
  runbookDocuments,
  runbookIndexRevisionId,
  runbookIndexRevisions,
  runbookTexts,
} from '../../schemas/resources/runbook.ts';
import { readHandbook } from './handbook.ts';
import { PassageIndex, type Source, sources } from './passage-index.ts';
import { readDocument } from './passages.ts';
import { readRelated } from './read-related.ts';

/**
 * Maximum number of passages of all organizations; the least recently used organizations are evicted. A passage
 * takes about 7 KB.
 */
const defaultMaxPassages = 30_000;
/** Maximum age of related sources */
const maxRelatedAgeMs = 30_000;

interface TenantIndex {
  readonly index: PassageIndex;
  /** Revision of the indexed documents */
  revision: string | undefined;
  /** Time at which related sources were read, by the clock of the process */
  relatedAtMs: number;
}

interface IndexRequest {
  readonly documents: TenantDocuments;
  readonly reader: TenantReader;
}

const toDocumentKey = (id: string): string => `document:${id}`;

export class PassageIndexCache {
  readonly #indexes = new Map<string, TenantIndex>();
  readonly #mutex = new KeyedMutex();
  readonly #maxPassages: number;

  constructor(maxPassages = defaultMaxPassages) {
    this.#maxPassages = maxPassages;
  }

  /**
   * Returns the index of an organization. Documents are current, whichever process wrote them; related sources are at
   * most half a minute old.
   */
  get(request: IndexRequest): Promise<PassageIndex> {
    const { tenantId } = request.documents;
    return this.#mutex.run(tenantId, async () => {
      const tenantIndex: TenantIndex = this.#indexes.get(tenantId) ?? {
        index: new PassageIndex(),
        revision: undefined,
        relatedAtMs: Number.NEGATIVE_INFINITY,
      };
      this.#indexes.delete(tenantId);
      this.#indexes.set(tenantId, tenantIndex);
      await updateIndex(tenantIndex, request);
      this.#evict(tenantId);
      return tenantIndex.index;
    });
  }

  #evict(exceptTenantId: string): void {
    let passageCount = [...this.#indexes.values()].reduce((sum, { index }) => sum + index.passages, 0);
    for (const [tenantId, { index }] of this.#indexes) {
      if (passageCount <= this.#maxPassages) return;
      if (tenantId === exceptTenantId) continue;
      this.#indexes.delete(tenantId);
      passageCount -= index.passages;
    }
  }
}

const updateIndex = async (tenantIndex: TenantIndex, request: IndexRequest): Promise<void> => {
  const { documents } = request;
  const stored = await documents.collection(runbookIndexRevisions).find(runbookIndexRevisionId);
  const revision = stored?.revision ?? '';
  if (revision !== tenantIndex.revision) {
    await indexDocuments(tenantIndex.index, documents);
    tenantIndex.revision = revision;
  }
  if (performance.now() - tenantIndex.relatedAtMs < maxRelatedAgeMs) return;
  const at = performance.now();
  for (const source of await readHandbook()) await tenantIndex.index.add(`handbook:${source.id}`, source);
  await indexRelated(tenantIndex.index, request);
  tenantIndex.relatedAtMs = at;
};

const indexDocuments = async (index: PassageIndex, documents: TenantDocuments): Promise<void> => {
  const removedKeys = new Set([...index.keys()].filter((key) => key.startsWith('document:')));
  for await (const { id, title, format, url } of iterateDocuments(documents.collection(runbookDocuments))) {
    const key = toDocumentKey(id);
    removedKeys.delete(key);
    if (index.has(key)) continue;
    const text = await documents.collection(runbookTexts).find(id);
    if (text === undefined) continue;
    const { passages } = readDocument(text.content, format, title);
    await index.add(key, { source: 'document', id, title, url, passages });
  }
  for (const key of removedKeys) index.remove(key);
};

const isRelated = (key: string): boolean => !key.startsWith('document:') && !key.startsWith('handbook:');

const indexRelated = async (index: PassageIndex, { documents, reader }: IndexRequest): Promise<void> => {
  const removedKeys = new Set([...index.keys()].filter(isRelated));
  for (const { key, source } of await readRelated(documents, reader)) {
    removedKeys.delete(key);
    await index.add(key, source);
  }
  for (const key of removedKeys) index.remove(key);
};

/** Returns the sources that a reader may read. */
export const getAvailableSources = (reader: PlanReader): readonly Source[] =>
  sources.filter((source) => source !== 'log-pattern' || canRead(reader, 'logs'));
