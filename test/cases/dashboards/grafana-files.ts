/** Public Grafana dashboards, which are not part of this repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface GrafanaFile {
  readonly name: string;
  readonly dashboard: Record<string, unknown>;
}

const root = process.env['GRAFANA_DASHBOARDS'] ?? '';

const dashboardsIn = (name: string): GrafanaFile[] => {
  const text = readFileSync(`${root}/${name}`, 'utf8');
  if (name.endsWith('.json')) return [{ name, dashboard: JSON.parse(text) }];
  const { items } = parse(text) as { readonly items: readonly { readonly data: Readonly<Record<string, string>> }[] };
  return items.flatMap(({ data }) =>
    Object.entries(data).map(([key, json]) => ({ name: `${name}#${key}`, dashboard: JSON.parse(json) })),
  );
};

/** Returns all of them; none if the files are missing. */
export const grafanaFiles = (): GrafanaFile[] =>
  existsSync(root)
    ? (readdirSync(root, { recursive: true }) as string[])
        .filter((name) => name.endsWith('.json') || name.endsWith('.yaml'))
        .toSorted()
        .flatMap(dashboardsIn)
    : [];
