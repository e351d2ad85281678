/** Documents of dashboards as texts, read and written in a thread where they are long: ours and Grafana's. */
import { inWorker } from '../../../queries/worker.ts';
import { readYaml, YamlError } from '../../../queries/yaml.ts';
import { dashboardFile, documentFile, type FileProblem, readDocumentValue } from '../as-code.ts';
import type { DashboardFields } from '../document.ts';
import { writeGrafana } from './export.ts';
import { type Imported, idOf, readGrafana } from './import.ts';
import { isFields, leavesIn } from './ledger.ts';

/** What answers of this API hold beside what a dashboard says. */
const ofServer = new Set(
  'version createdAt updatedAt ownerId changedBy source documentVersion losses validity createdFrom opened'.split(' '),
);

const readOurs = (body: object): Imported | { readonly problems: readonly FileProblem[] } => {
  const read = readDocumentValue(Object.fromEntries(Object.entries(body).filter(([name]) => !ofServer.has(name))));
  if ('problems' in read) return read;
  const document = JSON.parse(JSON.stringify(read.document)) as DashboardFields;
  const total = leavesIn(body);
  return {
    id: read.id ?? idOf(undefined, document.name),
    document,
    report: {
      from: 'oiq',
      panels: document.panels.map(({ id: panelId, title, visual }) => ({
        panelId,
        title,
        sourceType: visual.kind,
        outcome: 'carried',
        losses: [],
      })),
      variables: document.variables.map(({ name }) => ({ name, outcome: 'carried', losses: [] })),
      rest: [],
      leaves: { total, carried: total, default: 0, named: 0 },
    },
  };
};

/** A dashboard of a document of JSON, or what is wrong with it. */
export const readImported = (json: string): Imported | { readonly problems: readonly FileProblem[] } => {
  const body: unknown = JSON.parse(json);
  if (!isFields(body)) return { problems: [{ path: '', message: 'a dashboard must be an object' }] };
  return readGrafana(body) ?? readOurs(body);
};
export const readImportedInWorker = inWorker(import.meta.url, readImported);

/** The value of a text of YAML, as JSON. */
export const jsonOfYaml = (text: string): { readonly json: string } | { readonly problem: string } => {
  try {
    return { json: JSON.stringify(readYaml(text).value() ?? null) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { problem: error.text };
  }
};
export const jsonOfYamlInWorker = inWorker(import.meta.url, jsonOfYaml);

/** Forms that a dashboard is exported in. */
export const exportFormats = ['oiq', 'yaml', 'grafana'] as const;

/** A dashboard, which is given as JSON, as the text of an export. */
export const exported = (format: string, id: string, json: string): string => {
  const document = JSON.parse(json) as DashboardFields;
  if (format === 'yaml') return documentFile(id, document);
  const value = format === 'grafana' ? writeGrafana(id, document) : dashboardFile({ id, document });
  return `${JSON.stringify(value, null, 2)}\n`;
};
export const exportInWorker = inWorker(import.meta.url, exported);
