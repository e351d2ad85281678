/** Postmortem of an incident as Markdown: its facts and the parts that users wrote */
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Incident, Postmortem } from '../../schemas/resources/incident.ts';
import type { TimelineEntry } from './timeline.ts';

/** Escapes text from other sources, so that it cannot start Markdown markup. */
const escapeMarkdown = (text: string): string =>
  text.replace(/[\\`*_{}[\]<>()#+\-.!|~&]/g, '\\$&').replace(/\s+/g, ' ');

const formatElapsed = (from: string, to: string | null): string => {
  if (to === null) return 'not yet';
  const seconds = Math.round((Date.parse(to) - Date.parse(from)) / 1000);
  return `${to} (after ${Math.floor(seconds / 60)} min ${seconds % 60} s)`;
};

const createSection = (title: string, text: string): string[] => [
  `## ${title}`,
  '',
  text === '' ? '(not written)' : text,
  '',
];

/** User-written parts are already Markdown; everything else is escaped as plain text. */
export const formatPostmortem = (
  incident: Incident & StoredMetadata,
  { impact, causes, actions }: Postmortem,
  entries: readonly TimelineEntry[],
): string => {
  const { title, severity, status, openedAt, firstAcknowledgedAt, resolvedAt, services, roles, evidenceHash } =
    incident;
  const facts = [
    `- Severity: ${severity}`,
    `- State: ${status}`,
    `- Opened: ${openedAt}`,
    `- Acknowledged: ${formatElapsed(openedAt, firstAcknowledgedAt)}`,
    `- Resolved: ${formatElapsed(openedAt, resolvedAt)}`,
    ...(services.length > 0 ? [`- Services: ${services.map(escapeMarkdown).join(', ')}`] : []),
    ...roles.map(({ role, userId }) => `- ${escapeMarkdown(role)}: ${escapeMarkdown(userId)}`),
    ...(evidenceHash === null ? [] : [`- Evidence: sha256 ${evidenceHash}`]),
  ];
  const timelineLines = entries.map(
    ({ at, kind, title: entryTitle, text }) =>
      `- ${at} ${kind}: ${escapeMarkdown(entryTitle)}${text === '' ? '' : `: ${escapeMarkdown(text)}`}`,
  );
  const actionLines = actions.map(
    ({ text, ownerId, dueOn, isDone }) =>
      `- [${isDone ? 'x' : ' '}] ${escapeMarkdown(text)} (owner: ${escapeMarkdown(ownerId ?? 'nobody')}, due: ${dueOn ?? 'no date'})`,
  );
  return [
    ...[`# ${escapeMarkdown(title)}`, ''],
    ...createSection('Facts', facts.join('\n')),
    ...createSection('Impact', impact),
    ...createSection('Causes', causes),
    ...createSection('Actions', actionLines.join('\n')),
    ...createSection('Timeline', timelineLines.join('\n')),
  ].join('\n');
};
