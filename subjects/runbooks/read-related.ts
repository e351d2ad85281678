/** Related sources in addition to runbooks: resolved incidents, texts of alert rules, log patterns */
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { computeHashId } from '../../runtime/hash-id.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { incidentNotes, incidentPostmortems, incidents } from '../../schemas/resources/incident.ts';
import { parseStoredRule } from '../alerts/rule.ts';
import type { PassageSource } from './passage-index.ts';
import { readDocument } from './passages.ts';

/** Maximum numbers of sources; the most recent incidents and patterns are searched */
const maxIncidents = 300;
const maxRules = 1_000;
const maxPatterns = 500;

/** A source, and a key that changes with its content */
export interface KeyedSource {
  readonly key: string;
  readonly source: PassageSource;
}

const toKeyedSource = (source: PassageSource): KeyedSource => ({
  key: `${source.source}:${source.id}:${computeHashId(source.title, source.passages)}`,
  source,
});

const readIncidents = async (documents: TenantDocuments): Promise<PassageSource[]> => {
  const { items } = await documents
    .collection(incidents)
    .list({ filter: { status: 'resolved' }, sort: { openedAt: -1 }, limit: maxIncidents });
  if (items.length === 0) return [];
  const ids = items.map(({ id }) => id);
  const [postmortems, notes] = await Promise.all([
    documents.collection(incidentPostmortems).list({ filter: { id: { $in: ids } }, limit: maxIncidents }),
    documents.collection(incidentNotes).list({ filter: { incidentId: { $in: ids } } }),
  ]);
  return items.map(({ id, title, summary, services }) => {
    const postmortem = postmortems.items.find((each) => each.id === id);
    const actions = postmortem?.actions.map(({ text }) => `- ${text}`).join('\n') ?? '';
    const noteTexts = notes.items.filter(({ incidentId }) => incidentId === id).map(({ text }) => text);
    const sections: readonly (readonly [heading: string, text: string])[] = [
      ['', [summary, services.length === 0 ? '' : `Services: ${services.join(', ')}`].join('\n\n').trim()],
      ['Impact', postmortem?.impact ?? ''],
      ['Causes', postmortem?.causes ?? ''],
      ['Actions', actions],
      ['Notes', noteTexts.join('\n\n')],
    ];
    const passages = sections.flatMap(([heading, text]) =>
      readDocument(text, 'text', title).passages.map((passage) => ({
        ...passage,
        headings: heading === '' ? [] : [heading],
      })),
    );
    const nonEmptyPassages = passages.length === 0 ? [{ headings: [], text: title }] : passages;
    return { source: 'incident', id, title, url: '', passages: nonEmptyPassages };
  });
};

/** URLs in responses become links, so only web URLs are allowed. */
const webUrlOrEmpty = (text: string): string =>
  /^https?:\/\/[^\s<>"]+$/.test(text) && !text.includes('{{') ? text : '';

const readRules = async (documents: TenantDocuments): Promise<PassageSource[]> => {
  const { items } = await documents.collection(alertRules).list({ limit: maxRules });
  return items.flatMap((storedRule): PassageSource[] => {
    const rule = parseStoredRule(storedRule);
    if (rule === undefined) return [];
    const { id, name, description, annotations, condition } = rule;
    const { runbook_url: link = '', ...texts } = annotations;
    const text = [description, ...Object.values(texts)].filter((value) => value !== '').join('\n\n');
    const passages = readDocument(text, 'text', name).passages;
    const query = condition.kind === 'composite' ? undefined : condition.query;
    const nonEmptyPassages = passages.length === 0 ? [{ headings: [], text: name }] : passages;
    return [{ source: 'rule', id, title: name, url: webUrlOrEmpty(link), passages: nonEmptyPassages, query }];
  });
};

const readPatterns = async ({ columns }: TenantReader): Promise<PassageSource[]> => {
  const rows = await columns.query<{ id: string; template: string; services: readonly string[] }>(
    `SELECT pattern_id AS id, argMax(template, last_seen) AS template, arraySort(groupUniqArray(20)(toString(service))) AS services
    FROM log_patterns WHERE tenant_id = {tenant:String}
    GROUP BY id ORDER BY max(last_seen) DESC, id LIMIT ${maxPatterns}`,
  );
  return rows.flatMap(({ id, template, services }): PassageSource[] => {
    const { passages } = readDocument(template, 'text', services.join(', '));
    return passages.length === 0
      ? []
      : [{ source: 'log-pattern', id, title: `Log pattern of ${services.join(', ')}`, url: '', passages }];
  });
};

/** Returns the related sources that the reader's plan includes. */
export const readRelated = async (
  documents: TenantDocuments,
  reader: TenantReader,
): Promise<readonly KeyedSource[]> => {
  const sourceLists = await Promise.all([
    readIncidents(documents),
    readRules(documents),
    reader.plan.entitlements.includes('logs') ? readPatterns(reader) : [],
  ]);
  return sourceLists.flat().map(toKeyedSource);
};
