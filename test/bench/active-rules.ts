/** Alert and detection rules that are active while an organization is measured. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseDocument } from '../../subjects/detections/deployment.ts';
import { signIn } from '../end-to-end/oiq-process.ts';

const alerts = 200;
const detections = 300;
const rulesOfOneImport = 50;

/** The first Sigma rules of a folder that are not correlations and can be parsed. */
export const sigmaRulesIn = (folder: string): string[] =>
  globSync('**/*.yml', { cwd: folder })
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .filter((source) => {
      const document = parseDocument(source);
      return typeof document !== 'string' && document.kind === 'rule';
    })
    .slice(0, detections);

/** A rule that counts log records of a service or severity. Its threshold is never reached. */
const alertRule = (index: number): object => ({
  name: `rule ${index}`,
  interval: '1m',
  condition: {
    kind: 'threshold',
    query: {
      kind: 'aggregate',
      signal: 'logs',
      groupBy: ['service'],
      measures: [{ function: 'count' }],
      search: `severityNumber:>${index % 20} ${index % 2 === 0 ? 'timeout' : 'payment'}`,
    },
    window: ['5m', '10m', '15m', '30m'][index % 4],
    thresholds: [{ severity: 'critical', operator: 'above', value: 1e12 }],
  },
});

/** Waits until imported rules were run over stored records, of which there are none. */
const huntsEnded = async (url: string, token: string): Promise<void> => {
  for (;;) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const { items } = (await response.json()) as { items: { status: string }[] };
    if (items.every(({ status }) => status !== 'running')) return;
    await delay(1_000);
  }
};

/** Creates 200 alert rules and up to 300 detection rules from a folder of Sigma rules. Returns both counts. */
export const makeRules = async (http: string, folder: string): Promise<{ alerts: number; detections: number }> => {
  const token = await signIn(http);
  // biome-ignore lint/suspicious/noExplicitAny: responses of two operations
  const post = async (path: string, type: string, body: string): Promise<any> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const response = await fetch(`${http}${path}`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  for (let index = 0; index < alerts; index++)
    await post('/api/alerts/rules', 'application/json', JSON.stringify(alertRule(index)));
  const sources = sigmaRulesIn(folder);
  let createdCount = 0;
  for (let from = 0; from < sources.length; from += rulesOfOneImport) {
    const some = sources.slice(from, from + rulesOfOneImport).join('\n---\n');
    const { items } = await post('/api/siem/rules/import', 'application/yaml', some);
    createdCount += items.filter(({ outcome }: { outcome: string }) => outcome === 'created').length;
  }
  await huntsEnded(`${http}/api/siem/retro-hunts?limit=100`, token);
  return { alerts, detections: createdCount };
};
