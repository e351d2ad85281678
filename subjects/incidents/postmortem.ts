/** A postmortem: the facts of an incident, and what people made of them, as Markdown. */
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Incident, Postmortem } from '../../schemas/resources/incident.ts';
import type { TimelineEntry } from './timeline.ts';

/** Text of others cannot begin markup: what means something in Markdown is written with a backslash. */
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

/** People's own parts are Markdown already; everything else is written as plain text. */
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
