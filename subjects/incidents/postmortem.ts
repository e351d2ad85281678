/** Postmortem of an incident as Markdown: its facts and the parts that users wrote */
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Incident, Postmortem } from '../../schemas/resources/incident.ts';
import type { TimelineEntry } from './timeline.ts';

/** Escapes text from other sources, so that it cannot start Markdown markup. */
const plain = (text: string): string => text.replace(/[\\`*_{}[\]<>()#+\-.!|~&]/g, '\\$&').replace(/\s+/g, ' ');

const spanOf = (from: string, to: string | null): string => {
  if (to === null) return 'not yet';
  const seconds = Math.round((Date.parse(to) - Date.parse(from)) / 1000);
  return `${to} (after ${Math.floor(seconds / 60)} min ${seconds % 60} s)`;
};

const section = (title: string, text: string): string[] => [
  `## ${title}`,
  '',
  text === '' ? '(not written)' : text,
  '',
];

/** User-written parts are already Markdown; everything else is escaped as plain text. */
export const postmortemMarkdown = (
  incident: Incident & Stored,
  { impact, causes, actions }: Postmortem,
  entries: readonly TimelineEntry[],
): string => {
  const { title, severity, status, openedAt, firstAcknowledgedAt, resolvedAt, services, roles, evidenceHash } =
    incident;
  const facts = [
    `- Severity: ${severity}`,
    `- State: ${status}`,
    `- Opened: ${openedAt}`,
    `- Acknowledged: ${spanOf(openedAt, firstAcknowledgedAt)}`,
    `- Resolved: ${spanOf(openedAt, resolvedAt)}`,
    ...(services.length > 0 ? [`- Services: ${services.map(plain).join(', ')}`] : []),
    ...roles.map(({ role, userId }) => `- ${plain(role)}: ${plain(userId)}`),
    ...(evidenceHash === null ? [] : [`- Evidence: sha256 ${evidenceHash}`]),
  ];
  const timelineLines = entries.map(
    ({ at, kind, title: what, text }) => `- ${at} ${kind}: ${plain(what)}${text === '' ? '' : `: ${plain(text)}`}`,
  );
  const done = actions.map(
    ({ text, ownerId, dueOn, isDone }) =>
      `- [${isDone ? 'x' : ' '}] ${plain(text)} (owner: ${plain(ownerId ?? 'nobody')}, due: ${dueOn ?? 'no date'})`,
  );
  return [
    ...[`# ${plain(title)}`, ''],
    ...section('Facts', facts.join('\n')),
    ...section('Impact', impact),
    ...section('Causes', causes),
    ...section('Actions', done.join('\n')),
    ...section('Timeline', timelineLines.join('\n')),
  ].join('\n');
};
