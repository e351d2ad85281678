/** The passages of each organization in memory, as its documents stand now. */
import type { Reading } from '../../queries/reading.ts';
import { documentsIn } from '../../runtime/documents-in.ts';
import { KeyedMutex } from '../../runtime/keyed-mutex.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import {
  runbookDocuments,
  runbookIndexRevisionId,
  runbookShelves,
  runbookTexts,
} from '../../schemas/resources/runbook.ts';
import { handbook } from './handbook.ts';
import { PassageIndex, type Source, sources } from './passage-index.ts';
import { readDocument } from './passages.ts';
import { readRelated } from './related.ts';

/** Of all organizations; those whose passages were asked for longest ago go. A passage takes some 7 KB. */
const defaultMaxPassages = 30_000;
/** What is found beside runbooks may be so old. */
const relatedForMs = 30_000;

interface TenantIndex {
  readonly index: PassageIndex;
  /** Of the documents that it holds. */
  revision: string | undefined;
  /** When what stands beside them was read, by the process's clock. */
  relatedAtMs: number;
}

interface IndexRequest {
  readonly documents: TenantDocuments;
  readonly reading: Reading;
}

const keyOf = (id: string): string => `document:${id}`;

export class Shelves {
  readonly #indexes = new Map<string, TenantIndex>();
  readonly #mutex = new KeyedMutex();
  readonly #maxPassages: number;

  constructor(maxPassages = defaultMaxPassages) {
    this.#maxPassages = maxPassages;
  }

  /** All that is found for an organization. Documents are those of now, whichever process wrote them; the rest is of the last half minute. */
  of(request: IndexRequest): Promise<PassageIndex> {
    const { tenantId } = request.documents;
    return this.#mutex.run(tenantId, async () => {
      const tenantIndex: TenantIndex = this.#indexes.get(tenantId) ?? {
        index: new PassageIndex(),
        revision: undefined,
        relatedAtMs: Number.NEGATIVE_INFINITY,
      };
      this.#indexes.delete(tenantId);
      this.#indexes.set(tenantId, tenantIndex);
      await bringUp(tenantIndex, request);
      this.#makeRoom(tenantId);
      return tenantIndex.index;
    });
  }

  #makeRoom(exceptTenantId: string): void {
    let held = [...this.#indexes.values()].reduce((sum, { index }) => sum + index.passages, 0);
    for (const [tenantId, { index }] of this.#indexes) {
      if (held <= this.#maxPassages) return;
      if (tenantId === exceptTenantId) continue;
      this.#indexes.delete(tenantId);
      held -= index.passages;
    }
  }
}

const bringUp = async (tenantIndex: TenantIndex, request: IndexRequest): Promise<void> => {
  const { documents } = request;
  const stored = await documents.collection(runbookShelves).find(runbookIndexRevisionId);
  const revision = stored?.revision ?? '';
  if (revision !== tenantIndex.revision) {
    await indexDocuments(tenantIndex.index, documents);
    tenantIndex.revision = revision;
  }
  if (performance.now() - tenantIndex.relatedAtMs < relatedForMs) return;
  const at = performance.now();
  for (const book of await handbook()) await tenantIndex.index.add(`handbook:${book.id}`, book);
  await indexRelated(tenantIndex.index, request);
  tenantIndex.relatedAtMs = at;
};

const indexDocuments = async (index: PassageIndex, documents: TenantDocuments): Promise<void> => {
  const removedKeys = new Set([...index.keys()].filter((key) => key.startsWith('document:')));
  for await (const { id, title, format, url } of documentsIn(documents.collection(runbookDocuments))) {
    const key = keyOf(id);
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

const indexRelated = async (index: PassageIndex, { documents, reading }: IndexRequest): Promise<void> => {
  const removedKeys = new Set([...index.keys()].filter(isRelated));
  for (const { key, book } of await readRelated(documents, reading)) {
    removedKeys.delete(key);
    await index.add(key, book);
  }
  for (const key of removedKeys) index.remove(key);
};

/** What a plan lets find. */
export const sourcesOf = ({ plan }: Pick<Reading, 'plan'>): readonly Source[] =>
  sources.filter((source) => source !== 'log-pattern' || plan.entitlements.includes('logs'));
