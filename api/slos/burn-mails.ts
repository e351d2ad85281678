/** Mail to the receivers that projects name: that an objective burns its error budget. */
import { documentsIn } from '../../runtime/documents-in.ts';
import { defineJob } from '../../runtime/jobs.ts';
import { sloBurnsTold } from '../../schemas/resources/slo-burn-told.ts';
import { burningObjectives, type ManagedAlert } from '../../subjects/overview/managed-alerts.ts';
import { findManagedRules } from '../alert-rules/managed.ts';
import { type Letter, plainName } from '../mail/letter.ts';
import { linkTo } from '../mail/links.ts';
import { eachWanting, type KnownProject, type MailJobPorts, receiversOf } from '../mail/receivers.ts';

const letterOf = (
  to: string,
  sloId: string,
  { rule, reason, severity }: ManagedAlert,
  settings: MailJobPorts['settings'],
): Letter => {
  const name = plainName(rule.labels['slo'] ?? sloId);
  return {
    to,
    subject: `Objective burns its error budget: ${name}`,
    paragraphs: [
      `The objective “${name}” spends its error budget faster than it may${severity === null ? '' : ` (${severity})`}: ${plainName(reason.toWellFormed())}.`,
    ],
    link: { text: 'Show the objective', url: linkTo(settings, `slos?open=${encodeURIComponent(sloId)}`) },
  };
};

/** Objectives belong to the organization: each project that wants it is told, once for each burn. */
const tellOf = async (ports: MailJobPorts, tenantId: string, own: readonly KnownProject[]): Promise<void> => {
  const { documents, columns, clock, counters, mail, settings } = ports;
  const nowMs = clock.now();
  const burning = new Map(
    await burningObjectives({ columns: columns.of(tenantId), nowMs }, findManagedRules(documents.of(tenantId))),
  );
  const told = new Map<string, number>();
  for await (const { id, version } of documentsIn(documents.of(tenantId).collection(sloBurnsTold)))
    told.set(id, version);
  for (const [id, version] of told)
    if (!burning.has(id)) await documents.of(tenantId).collection(sloBurnsTold).delete(id, version);
  for (const [sloId, alert] of burning) {
    if (told.has(sloId)) continue;
    const happened = { event: 'slo-burning', severity: alert.severity ?? 'warning', about: 'slo' } as const;
    const receivers = await receiversOf(counters, tenantId, own, happened);
    await documents.transaction(async (scope) => {
      const stored = scope.of(tenantId).collection(sloBurnsTold);
      // Another instance may have told it meanwhile.
      if ((await stored.find(sloId)) !== undefined) return;
      for (const to of receivers) await mail.put(scope, letterOf(to, sloId, alert, settings));
      await stored.insert({ id: sloId, at: new Date(nowMs).toISOString() });
    });
  }
};

/** Looks at the objectives of organizations whose projects want to be told. One that cannot be looked at keeps no other from it. */
export const tellOfBurns = async (ports: MailJobPorts, signal: AbortSignal): Promise<void> => {
  await eachWanting(
    ports,
    { events: ['slo-burning'], what: 'objectives' },
    (tenantId, own) => tellOf(ports, tenantId, own),
    signal,
  );
};

export const burnMailsJob = defineJob<MailJobPorts>({
  name: 'slo-burn-mails',
  summary: 'Mails to receivers of projects that objectives burn their error budget.',
  everyMs: 30_000,
  scope: 'installation',
  run: tellOfBurns,
});
