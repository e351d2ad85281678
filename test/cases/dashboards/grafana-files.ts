/** Dashboards of Grafana that are public, beside this repository. */
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

/** All of them; none where they are not there. */
export const grafanaFiles = (): GrafanaFile[] =>
  existsSync(root)
    ? (readdirSync(root, { recursive: true }) as string[])
        .filter((name) => name.endsWith('.json') || name.endsWith('.yaml'))
        .toSorted()
        .flatMap(dashboardsIn)
    : [];
