/** All findings of an organization, merged. Contents are cached by their revision. */
import { addToList } from '../../schemas/add-to-list.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { type MergedFinding, mergeFindings, type StoredReport } from './findings.ts';
import { unpackContent } from './import-work.ts';
import type { ExploitationFacts } from './priority.ts';
import type { EpssScores, ExploitedCatalog, ReportTarget, VexDocument, VexStatement } from './report.ts';
import { listSources, readSourceContent, type StoredSource } from './sources.ts';

export interface NamedStatement extends VexStatement {
  readonly document: string;
}

export interface Inventory {
  readonly findings: readonly MergedFinding[];
  /** Targets of the findings */
  readonly targets: readonly ReportTarget[];
  readonly facts: ExploitationFacts;
  readonly statementsById: ReadonlyMap<string, readonly NamedStatement[]>;
  readonly sources: readonly StoredSource[];
}

/** Contents by tenant, source and revision, the least recently used first */
const contents = new Map<string, { readonly value: unknown; readonly bytes: number }>();
const maxCachedBytes = 64 * 1024 * 1024;
let cachedBytes = 0;

const readContent = async <Value>(documents: TenantDocuments, source: StoredSource): Promise<Value | undefined> => {
  const key = `${documents.tenantId}\n${source.id}\n${source.revision}`;
  const cached = contents.get(key);
  if (cached !== undefined) {
    contents.delete(key);
    contents.set(key, cached);
    return cached.value as Value;
  }
  const packed = await readSourceContent(documents, source);
  if (packed === undefined) return undefined;
  const value = unpackContent<Value>(packed);
  contents.set(key, { value, bytes: packed.length });
  cachedBytes += packed.length;
  for (const [oldKey, { bytes }] of contents) {
    if (cachedBytes <= maxCachedBytes || contents.size === 1) break;
    contents.delete(oldKey);
    cachedBytes -= bytes;
  }
  return value;
};

/** Inventories by tenant, for the revisions that they have */
const inventories = new Map<string, { readonly revisions: string; readonly inventory: Inventory }>();
const maxInventories = 20;

/** Returns the contents of the sources of a kind. */
const readContents = async <Value>(
  documents: TenantDocuments,
  sources: readonly StoredSource[],
  kind: StoredSource['kind'],
): Promise<{ readonly source: StoredSource; readonly value: Value }[]> => {
  const found: { source: StoredSource; value: Value }[] = [];
  for (const source of sources) {
    if (source.kind !== kind) continue;
    const value = await readContent<Value>(documents, source);
    if (value !== undefined) found.push({ source, value });
  }
  return found;
};

const indexStatements = (vexDocuments: readonly { source: StoredSource; value: Pick<VexDocument, 'statements'> }[]) => {
  const statementsById = new Map<string, NamedStatement[]>();
  for (const { source, value } of vexDocuments)
    for (const statement of value.statements)
      for (const id of statement.ids) addToList(statementsById, id, { ...statement, document: source.target });
  return statementsById;
};

const buildInventory = async (documents: TenantDocuments, sources: readonly StoredSource[]): Promise<Inventory> => {
  const reports = (await readContents<StoredReport>(documents, sources, 'report'))
    .map(({ value }) => value)
    .sort((left, right) => (`${left.target.id} ${left.scanner}` < `${right.target.id} ${right.scanner}` ? -1 : 1));
  const scores = await readContents<EpssScores>(documents, sources, 'epss');
  const [catalog] = await readContents<ExploitedCatalog>(documents, sources, 'kev');
  const vexDocuments = await readContents<Pick<VexDocument, 'statements'>>(documents, sources, 'vex');
  const findings = mergeFindings(reports);
  return {
    findings,
    targets: [...new Map(findings.map(({ target }) => [target.id, target])).values()],
    facts: {
      epss: new Map(scores.flatMap(({ value }) => value.scores)),
      exploited: catalog === undefined ? undefined : new Set(catalog.value.ids),
    },
    statementsById: indexStatements(vexDocuments),
    sources,
  };
};

/** Returns the findings of an organization. Advisories are part of it by the findings that they caused. */
export const readInventory = async (documents: TenantDocuments): Promise<Inventory> => {
  const sources = await listSources(documents);
  const revisions = sources.map(({ id, revision }) => `${id}.${revision}`).join(' ');
  const cached = inventories.get(documents.tenantId);
  if (cached?.revisions === revisions) return cached.inventory;
  const inventory = await buildInventory(documents, sources);
  if (inventories.size >= maxInventories) inventories.clear();
  inventories.set(documents.tenantId, { revisions, inventory });
  return inventory;
};

const withoutQualifiers = (purl: string): string => purl.split(/[?#]/)[0] as string;

/** Returns the statements about a finding: for its package, its target, or everything. */
export const findStatements = (
  { statementsById }: Pick<Inventory, 'statementsById'>,
  { vulnerability, aliases, package: item, target }: MergedFinding,
): NamedStatement[] => {
  const purl = withoutQualifiers(item.purl);
  const names = new Set([purl, purl.replace(/@[^@/]*$/, ''), item.name, target.id, target.name, ...target.references]);
  const isAbout = ({ products, target: stated = target.id }: NamedStatement): boolean =>
    stated === target.id &&
    (products.length === 0 ||
      products.some(
        (product) => names.has(withoutQualifiers(product)) || (target.kind === 'image' && product.includes(target.id)),
      ));
  return [vulnerability, ...aliases].flatMap((id) => (statementsById.get(id) ?? []).filter(isAbout));
};
