/** The passages of each organization in memory, as its documents stand now. */
import type { Reading } from '../../queries/reading.ts';
import { documentsIn } from '../../runtime/documents-in.ts';
import { KeyedMutex } from '../../runtime/keyed-mutex.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { runbookDocuments, runbookShelfId, runbookShelves, runbookTexts } from '../../schemas/resources/runbook.ts';
import { handbook } from './handbook.ts';
import { PassageIndex, type Source, sources } from './passage-index.ts';
import { readDocument } from './passages.ts';
import { readRelated } from './related.ts';

/** Of all organizations; those whose passages were asked for longest ago go. A passage takes some 7 KB. */
const mostPassages = 30_000;
/** What is found beside runbooks may be so old. */
const relatedForMs = 30_000;

interface Shelf {
  readonly index: PassageIndex;
  /** Of the documents that it holds. */
  revision: string | undefined;
  /** When what stands beside them was read, by the process's clock. */
  relatedAtMs: number;
}

interface Asking {
  readonly documents: TenantDocuments;
  readonly reading: Reading;
}

const keyOf = (id: string): string => `document:${id}`;

export class Shelves {
  readonly #shelves = new Map<string, Shelf>();
  readonly #turns = new KeyedMutex();
  readonly #most: number;

  constructor(most = mostPassages) {
    this.#most = most;
  }

  /** All that is found for an organization. Documents are those of now, whichever process wrote them; the rest is of the last half minute. */
  of(asking: Asking): Promise<PassageIndex> {
    const { tenantId } = asking.documents;
    return this.#turns.run(tenantId, async () => {
      const shelf: Shelf = this.#shelves.get(tenantId) ?? {
        index: new PassageIndex(),
        revision: undefined,
        relatedAtMs: Number.NEGATIVE_INFINITY,
      };
      this.#shelves.delete(tenantId);
      this.#shelves.set(tenantId, shelf);
      await bringUp(shelf, asking);
      this.#makeRoom(tenantId);
      return shelf.index;
    });
  }

  #makeRoom(besides: string): void {
    let held = [...this.#shelves.values()].reduce((sum, { index }) => sum + index.passages, 0);
    for (const [tenantId, { index }] of this.#shelves) {
      if (held <= this.#most) return;
      if (tenantId === besides) continue;
      this.#shelves.delete(tenantId);
      held -= index.passages;
    }
  }
}

const bringUp = async (shelf: Shelf, asking: Asking): Promise<void> => {
  const { documents } = asking;
  const stored = await documents.collection(runbookShelves).find(runbookShelfId);
  const revision = stored?.revision ?? '';
  if (revision !== shelf.revision) {
    await takeDocuments(shelf.index, documents);
    shelf.revision = revision;
  }
  if (performance.now() - shelf.relatedAtMs < relatedForMs) return;
  const at = performance.now();
  for (const book of await handbook()) await shelf.index.add(`handbook:${book.id}`, book);
  await takeRelated(shelf.index, asking);
  shelf.relatedAtMs = at;
};

const takeDocuments = async (index: PassageIndex, documents: TenantDocuments): Promise<void> => {
  const gone = new Set([...index.keys()].filter((key) => key.startsWith('document:')));
  for await (const { id, title, format, url } of documentsIn(documents.collection(runbookDocuments))) {
    const key = keyOf(id);
    gone.delete(key);
    if (index.has(key)) continue;
    const text = await documents.collection(runbookTexts).find(id);
    if (text === undefined) continue;
    const { passages } = readDocument(text.content, format, title);
    await index.add(key, { source: 'document', id, title, url, passages });
  }
  for (const key of gone) index.remove(key);
};

const isRelated = (key: string): boolean => !key.startsWith('document:') && !key.startsWith('handbook:');

const takeRelated = async (index: PassageIndex, { documents, reading }: Asking): Promise<void> => {
  const gone = new Set([...index.keys()].filter(isRelated));
  for (const { key, book } of await readRelated(documents, reading)) {
    gone.delete(key);
    await index.add(key, book);
  }
  for (const key of gone) index.remove(key);
};

/** What a plan lets find. */
export const sourcesOf = ({ plan }: Pick<Reading, 'plan'>): readonly Source[] =>
  sources.filter((source) => source !== 'log-pattern' || plan.entitlements.includes('logs'));
