/**
 * Generates the reference pages of the documentation from the code: settings, metrics, and permissions.
 * `npm run docs` writes them; if they are outdated, a test fails with their names.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listScopes } from '../api/callers/scopes.ts';
import { groups, operations } from '../api/groups/index.ts';
import { describeSettings } from '../commands/settings.ts';
import { metricDefinitions } from '../schemas/ports/metrics.ts';

const folder = fileURLToPath(new URL('reference', import.meta.url));

const formatTable = (header: readonly string[], rows: readonly (readonly string[])[]): string => {
  const formatRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  return `${[header, header.map(() => '---'), ...cells].map(formatRow).join('\n')}\n`;
};

const formatCode = (text: string): string => (text === '' ? '' : `\`${text}\``);

const formatSettings = (): string => {
  const rows = describeSettings().map(({ name, defaultText, meaning }) => [
    formatCode(name),
    formatCode(defaultText),
    meaning,
  ]);
  return `# Settings

Settings are environment variables. An unknown name that begins with \`OIQ_\` ends the start with the nearest setting.
\`node bin/oiq.mjs settings\` prints this list.

${formatTable(['setting', 'default', 'meaning'], rows)}`;
};

const formatMetrics = (): string => `# Metrics of OIQ

Each process serves its metrics at \`/metrics\` in Prometheus' format, without a session and without names of organizations.
With \`OIQ_OTLP_EXPORT_ENDPOINT\`, processes also send them over OTLP.
[Monitor OIQ](../operate/monitor.md) explains which ones to watch.

${formatTable(
  ['metric', 'type', 'labels', 'meaning'],
  Object.entries(metricDefinitions).map(([name, { type, labels, summary }]) => [
    formatCode(name),
    type,
    labels.map(formatCode).join(', '),
    summary,
  ]),
)}`;

const formatOperations = (group: string): string =>
  formatTable(
    ['operation', 'role', 'scope of a token', 'what it does'],
    operations
      .filter((operation) => operation.group === group && !operation.hidden && operation.built)
      .map(({ method, path, role, scope, summary }) => [
        formatCode(`${method} ${path}`),
        role.toLowerCase(),
        scope === undefined ? 'sessions only' : formatCode(scope),
        summary,
      ]),
  );

const formatPermissions = (): string => {
  const scopes = listScopes(operations).map(({ scope, roles, reads }) => [
    formatCode(scope),
    roles.map((role) => role.toLowerCase()).join(', '),
    reads.map(formatCode).join(', '),
  ]);
  const sections = groups.map(({ name, summary }) => `## ${name}\n\n${summary}\n\n${formatOperations(name)}`);
  return `# Permissions and scopes

- A user has one role in an organization: viewer, editor, admin or owner, each of which includes the ones before it. An auditor is a viewer who also reads the audit log.
- An API token of a service account has scopes, limited by the role of the account.
- \`GET /api/scopes\` returns the same list, and \`/api/docs\` the schemas of all operations.

## Scopes

A scope of reading also shows the telemetry of the groups in the last column, in views such as lists.

${formatTable(['scope', 'roles', 'includes views of'], scopes)}
${sections.join('\n')}`;
};

/** Reference pages: file → content */
export const buildReferencePages = (): Readonly<Record<string, string>> => ({
  'settings.md': formatSettings(),
  'metrics.md': formatMetrics(),
  'permissions.md': formatPermissions(),
});

if (import.meta.main)
  for (const [name, content] of Object.entries(buildReferencePages())) writeFileSync(join(folder, name), content);
