/** Reads and writes dashboard documents as texts, both OIQ's and Grafana's, in a worker if they are long. */
import { runInWorker } from '../../../queries/worker.ts';
import { parseYaml, YamlError } from '../../../queries/yaml.ts';
import { isFields } from '../../../runtime/fields.ts';
import { type FileProblem, parseDashboardValue, toFileObject, toYamlFile } from '../as-code.ts';
import type { DashboardFields } from '../document.ts';
import { writeGrafana } from './export.ts';
import { type Imported, readGrafana, toDashboardId } from './import.ts';
import { countLeaves } from './ledger.ts';

/** Fields that responses of the API contain in addition to the document. */
const serverFields = new Set(
  'version createdAt updatedAt ownerId changedBy source documentVersion losses validity createdFrom opened'.split(' '),
);

const readOiqDashboard = (body: object): Imported | { readonly problems: readonly FileProblem[] } => {
  const parsed = parseDashboardValue(
    Object.fromEntries(Object.entries(body).filter(([name]) => !serverFields.has(name))),
  );
  if ('problems' in parsed) return parsed;
  const document = JSON.parse(JSON.stringify(parsed.document)) as DashboardFields;
  const leafCount = countLeaves(body);
  return {
    id: parsed.id ?? toDashboardId(undefined, document.name),
    isIdentifiedByTitle: parsed.id === undefined,
    document,
    report: {
      from: 'oiq',
      panels: document.panels.map(({ id: panelId, title, visual }) => ({
        panelId,
        title,
        sourceType: visual.kind,
        outcome: 'carried',
        problems: [],
        losses: [],
      })),
      variables: document.variables.map(({ name }) => ({ name, outcome: 'carried', problems: [], losses: [] })),
      rest: [],
      leaves: { total: leafCount, carried: leafCount, default: 0, named: 0 },
    },
  };
};

/** Parses a dashboard from a JSON document, or returns its problems. */
export const readImportedDashboard = (json: string): Imported | { readonly problems: readonly FileProblem[] } => {
  const body: unknown = JSON.parse(json);
  if (!isFields(body)) return { problems: [{ path: '', message: 'a dashboard must be an object' }] };
  return readGrafana(body) ?? readOiqDashboard(body);
};
export const readImportedInWorker = runInWorker(import.meta.url, readImportedDashboard);

/** Converts a YAML text to JSON. */
export const yamlToJson = (text: string): { readonly json: string } | { readonly problem: string } => {
  try {
    return { json: JSON.stringify(parseYaml(text).value() ?? null) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { problem: error.text };
  }
};
export const jsonOfYamlInWorker = runInWorker(import.meta.url, yamlToJson);

/** Export formats of a dashboard. */
export const exportFormats = ['oiq', 'yaml', 'grafana'] as const;

/** Returns the text of an export of a dashboard, which is passed as JSON. */
export const exportDashboard = (format: string, id: string, json: string): string => {
  const document = JSON.parse(json) as DashboardFields;
  if (format === 'yaml') return toYamlFile(id, document);
  const value = format === 'grafana' ? writeGrafana(id, document) : toFileObject({ id, document });
  return `${JSON.stringify(value, null, 2)}\n`;
};
export const exportInWorker = runInWorker(import.meta.url, exportDashboard);
